/** What the run measured, as the four numbers to set, and how they share the grace period. */

import type { RunReport } from "../../report/run-report.ts";
import { escape, place } from "./markup.ts";
import { duration, plural } from "../numbers.ts";

export function settingsSection({ verdict }: RunReport): string {
  const { routerLagMs, longestRequestMs, teardownMs, startMs, settings } = verdict.advice;
  const { drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs } = settings;
  if (gracePeriodMs === null && drainDelayMs === null && gracefulTimeoutMs === null) {
    return "";
  }
  const rows = [
    ["drainDelayMs", drainDelayMs, "router lag", routerLagMs],
    ["gracefulTimeoutMs", gracefulTimeoutMs, "longest request", longestRequestMs],
    ["teardownTimeoutMs", teardownTimeoutMs, "teardown", teardownMs],
    ["gracePeriodMs", gracePeriodMs, "start of a copy", startMs],
  ] as const;
  const table = rows
    .map(
      ([name, value, measure, measured]) =>
        `<tr><td>${measure}</td><td class="n">${duration(measured)}</td><td>${name === "gracePeriodMs" ? "" : "→"}</td><td><code>${name}</code></td><td class="n"><b>${value === null ? "-" : value}</b></td></tr>`,
    )
    .join("");
  let budget = "";
  if (gracePeriodMs !== null) {
    let at = 0;
    const parts = [
      ["lame-duck", drainDelayMs],
      ["draining", gracefulTimeoutMs],
      ["teardown", teardownTimeoutMs],
    ] as const;
    const rects = parts.map(([phase, ms]) => {
      const x = place(at, 0, gracePeriodMs);
      at += ms ?? 0;
      const box = `x="${x}" width="${place(ms ?? 0, 0, gracePeriodMs)}" y="0" height="18"`;
      return `<rect class="p-${phase}" ${box}/>${phase === "lame-duck" ? `<rect ${box} fill="url(#hatch)"/>` : ""}`;
    });
    budget = `<svg class="budget" width="100%" height="18" role="img" aria-label="Drain delay, graceful timeout and teardown within the grace period">${rects.join("")}<rect class="frame" x="0" width="100%" y=".5" height="17"/></svg><p class="legend"><span><i class="p-lame-duck"></i>drain delay</span><span><i class="p-draining"></i>graceful timeout</span><span><i class="p-teardown"></i>teardown</span><span><i class="frame"></i>grace period ${duration(gracePeriodMs)}</span></p>`;
  }
  return `<section id="settings"><h2>Measured, and what it asks for</h2><p class="lead">Settings with a margin of a quarter and 250 ms, in milliseconds.</p><div class="scroll"><table>${table}</table></div>${budget}</section>`;
}

/** What this run could not have shown: a page that is silent about it would claim more than it knows. */
export function blindSection({ verdict }: RunReport): string {
  const { notLookedFor } = verdict;
  if (notLookedFor.length === 0) {
    return "";
  }
  const rows = notLookedFor.map(
    ({ id, slug, needs }) =>
      `<tr><td>${escape(id)}</td><td>${escape(slug.replaceAll("-", " "))}</td><td>${escape(needs)}</td></tr>`,
  );
  return `<section id="blind"><h2>What this run could not show</h2><p class="lead">${plural(notLookedFor.length, "kind")} of loss would have gone unseen, whatever the service does.</p><details><summary>Which, and what it would take</summary><div class="scroll"><table>${rows.join("")}</table></div></details></section>`;
}
