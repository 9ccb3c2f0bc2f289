/** Two runs beside each other: the proof that a change helped, number by number and restart by restart. */

import type { RunReport } from "../../report/run-report.ts";
import type { Verdict } from "../../verdict/verdict.ts";
import { alignedRestarts } from "./aligned-section.ts";
import { mark } from "./kinds.ts";
import { escape, place, rasterPlace } from "./markup.ts";
import { duration, grouped, percent } from "../numbers.ts";

const STRIP_HEIGHT = 96;
const STRIP_TOP = 8;

interface Line {
  readonly name: string;
  readonly of: (verdict: Verdict) => number | null;
  readonly form: (value: number | null) => string;
}

const count = (value: number | null): string => (value === null ? "-" : grouped(value));
const share = (value: number | null): string => (value === null ? "-" : percent(value));

const LINES: readonly Line[] = [
  { name: "requests", of: ({ requests }) => requests.sent, form: count },
  { name: "restarts", of: ({ restarts }) => restarts.length, form: count },
  { name: "lost", of: ({ requests }) => requests.byHarm.lost, form: count },
  { name: "truncated", of: ({ requests }) => requests.byHarm.truncated, form: count },
  { name: "duplicated", of: ({ requests }) => requests.byHarm.duplicated, form: count },
  { name: "acknowledged, not stored", of: ({ requests }) => requests.byHarm.unstored, form: count },
  { name: "masked by a retry", of: ({ requests }) => requests.byHarm.masked, form: count },
  { name: "slowed", of: ({ requests }) => requests.byHarm.slowed, form: count },
  { name: "loss rate below, 95 %", of: ({ bounds }) => bounds.perExposed.upper95, form: share },
  { name: "median", of: ({ latency }) => latency.p50, form: duration },
  { name: "p99", of: ({ latency }) => latency.p99, form: duration },
  { name: "p99.9", of: ({ latency }) => latency.p999, form: duration },
  { name: "slowest", of: ({ latency }) => latency.max, form: duration },
];

/** Latencies of two runs are never the same: a tenth, or some milliseconds, says nothing. */
function isNoise(was: number, is: number, form: Line["form"]): boolean {
  return form === duration && Math.abs(is - was) <= Math.max(10, 0.1 * was);
}

/** Fewer is better in every line but the first two, which only say how much was tried. */
function table(before: Verdict, after: Verdict): string {
  const rows = LINES.map(({ name, of, form }, index) => {
    const [was, is] = [of(before), of(after)];
    const moved = index < 2 || was === null || is === null || isNoise(was, is, form) ? 0 : is - was;
    const class_ = moved === 0 ? "" : moved < 0 ? ' class="better"' : ' class="worse"';
    return was === 0 && is === 0 && index > 2
      ? ""
      : `<tr${class_}><td>${name}</td><td class="n">${form(was)}</td><td class="n"><b>${form(is)}</b></td><td>${moved === 0 ? "" : moved < 0 ? "▾" : "▴"}</td></tr>`;
  });
  const parameters = [
    ...new Set([...Object.keys(before.run.parameters), ...Object.keys(after.run.parameters)]),
  ].filter((name) => name !== "mustShow" && before.run.parameters[name] !== after.run.parameters[name]);
  const told = (verdict: Verdict, name: string): string =>
    escape(String(verdict.run.parameters[name] ?? "-"));
  const changed = [
    ...(before.run.scenario === after.run.scenario
      ? []
      : [["scenario", escape(before.run.scenario), escape(after.run.scenario)] as const]),
    ...(before.run.router === after.run.router
      ? []
      : [["router", escape(before.run.router), escape(after.run.router)] as const]),
    ...parameters.map((name) => [escape(name), told(before, name), told(after, name)] as const),
  ].map(
    ([name, was, is]) =>
      `<tr class="changed"><td>${name}</td><td class="n">${was}</td><td class="n">${is}</td><td></td></tr>`,
  );
  return `<div class="scroll"><table class="compare"><thead><tr><td></td><th>before</th><th>after</th><td></td></tr></thead>${changed.join("")}${rows.join("")}</table></div>`;
}

function strip(report: RunReport, title: string, from: number, to: number): string {
  const restarts = alignedRestarts(report);
  const bad = restarts.flatMap((one) => one.bad);
  // A line for each restart, so that a pattern which they share is seen as one.
  const step = (STRIP_HEIGHT - 2 * STRIP_TOP) / Math.max(1, restarts.length - 1);
  const marks = new Set(
    restarts.flatMap((one, line) =>
      one.bad
        .filter(({ sinceMs }) => sinceMs >= from && sinceMs <= to)
        .map(({ sinceMs, kind }) =>
          mark(kind, rasterPlace(sinceMs, from, to), Math.round(STRIP_TOP + line * step)),
        ),
    ),
  );
  const zero = place(0, from, to);
  const words =
    bad.length === 0
      ? `<text class="tick" x="${zero}" dx="8" y="${STRIP_HEIGHT / 2 + 4}">no failure in ${grouped(report.timeline.restarts.length)} restarts</text>`
      : "";
  return `<div class="row"><div class="label"><span>${title}</span><small>${grouped(bad.length)} failures</small></div><svg class="plot" height="${STRIP_HEIGHT}" aria-hidden="true"><line class="rule" x1="0" x2="100%" y1="${STRIP_HEIGHT - 0.5}" y2="${STRIP_HEIGHT - 0.5}"/><line class="zero" x1="${zero}" x2="${zero}" y1="0" y2="${STRIP_HEIGHT}"/>${[...marks].join("")}${words}</svg></div>`;
}

export function compareSection(before: RunReport, after: RunReport): string {
  const offsets = [before, after].flatMap((report) =>
    report.bad.flatMap(({ sinceSignalMs }) => (sinceSignalMs === null ? [] : [sinceSignalMs])),
  );
  let [from, to] = [-200, 1000];
  for (const offset of offsets) {
    from = Math.max(-10_000, Math.min(from, offset * 1.1));
    to = Math.min(60_000, Math.max(to, offset * 1.1));
  }
  const scale = `<div class="row axis"><div class="label"><small>since the stop signal</small></div><svg class="plot ticks" height="20" aria-hidden="true"><text x="${place(0, from, to)}" y="14" text-anchor="middle">t0</text><text x="100%" y="14" text-anchor="end">+${duration(to)}</text></svg></div>`;
  return `<section id="compare"><h2>Before and after</h2><div class="pair">${table(before.verdict, after.verdict)}<div class="figure">${strip(before, "before", from, to)}${strip(after, "after", from, to)}${scale}</div></div></section>`;
}
