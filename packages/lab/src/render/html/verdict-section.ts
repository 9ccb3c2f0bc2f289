/** The top of a page, and all that many people will read: the verdict, what was lost, why, and which number to change. */

import type { RunReport } from "../../report/run-report.ts";
import type { Verdict } from "../../verdict/verdict.ts";
import { HARMS, subtitleOf, titleOf } from "../words.ts";
import { badge } from "./kinds.ts";
import { escape, prose } from "./markup.ts";
import { duration, grouped, percent, plural } from "../numbers.ts";

const GLYPHS: Readonly<Record<Verdict["outcome"], string>> = {
  pass: `<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="11"/><path d="m7 12.5 3.5 3.5L17 8.5"/></svg>`,
  fail: `<svg viewBox="0 0 24 24" aria-hidden="true"><path class="body" d="M7.4 1h9.2L23 7.4v9.2L16.6 23H7.4L1 16.6V7.4Z"/><path d="m8 8 8 8m0-8-8 8"/></svg>`,
  invalid: `<svg viewBox="0 0 24 24" aria-hidden="true"><path class="body" d="M12 1.5 23.5 22H.5Z"/><path d="M12 9v6m0 3v.2"/></svg>`,
};

function lost({ requests }: Verdict): string {
  const rows = HARMS.filter(
    ([harm]) => requests.byHarm[harm] > 0 || harm === "lost" || harm === "masked" || harm === "slowed",
  ).map(([harm, name, meaning]) => {
    const count = requests.byHarm[harm];
    return `<li class="${count === 0 ? "quiet" : ""}"><b>${grouped(count)}</b><span>${name}<small>${meaning}</small></span></li>`;
  });
  return `<ul class="counts">${rows.join("")}</ul>`;
}

function why({ kinds }: Verdict): string {
  if (kinds.length === 0) {
    return `<p class="quiet">Every request was answered whole, once, and in time.</p>`;
  }
  const shown = kinds
    .slice(0, 4)
    .map(
      (kind, index) =>
        `<li><b>${kind.count === 0 ? "" : grouped(kind.count)}</b><span><a href="#kind-${index}">${kind.count === 0 ? "" : badge(index)}${escape(kind.title)}</a><small>${prose(kind.why)}</small></span></li>`,
    );
  const rest =
    kinds.length > 4
      ? `<li class="quiet"><b></b><span>and ${plural(kinds.length - 4, "more kind")}</span></li>`
      : "";
  return `<ul class="counts">${shown.join("")}${rest}</ul>`;
}

/** The setting that answers the most frequent kind, as large as the verdict itself. */
function change({ advice, kinds, run }: Verdict): string {
  const { drainDelayMs, gracefulTimeoutMs, gracePeriodMs } = advice.settings;
  const first = kinds[0]?.slug ?? "";
  const told = run.parameters["drainDelayMs"];
  const now = typeof told === "number" ? told : null;
  const number = (name: string, ms: number, reason: string, before: number | null): string =>
    `<p class="number"><code>${name}</code><strong>${before === null ? "" : `<s>${duration(before)}</s> `}${duration(ms)}</strong><small>${reason}</small></p>`;
  const parts: string[] = [];
  const drains = ["closed-door", "masked-by-retry", "refused-by-gate", "keep-alive-race", "accept-queue"];
  if (drains.includes(first) && drainDelayMs !== null && (now ?? 0) < drainDelayMs) {
    parts.push(
      number(
        "drainDelayMs",
        drainDelayMs,
        `the router still sent to a leaving copy ${duration(advice.routerLagMs)} after its stop signal`,
        now,
      ),
    );
  } else if (["in-flight-cut", "truncated"].includes(first) && gracefulTimeoutMs !== null) {
    parts.push(
      number(
        "gracefulTimeoutMs",
        gracefulTimeoutMs,
        `the longest good request took ${duration(advice.longestRequestMs)}`,
        null,
      ),
    );
  } else if (first === "killed" && gracePeriodMs !== null) {
    parts.push(
      number("gracePeriodMs", gracePeriodMs, "drain, requests and teardown together need this long", null),
    );
  }
  // The first step says in words what the number says.
  const steps = advice.steps.slice(parts.length, 3).map((step) => `<li>${prose(step)}</li>`);
  if (parts.length === 0 && steps.length === 0) {
    return `<p class="quiet">Nothing. The numbers below are those that this run needed.</p>`;
  }
  return `${parts.join("")}<ul class="advice">${steps.join("")}</ul>`;
}

/** The number and its unit apart, so that a row of figures has one baseline. */
function figure(name: string, value: string, note = ""): string {
  return `<div><dt>${name}</dt><dd>${value}</dd>${note === "" ? "" : `<small>${note}</small>`}</div>`;
}

function figures(verdict: Verdict): string {
  const { requests, latency, restarts, bounds, exposure, store, witness, webSockets, http2 } = verdict;
  const exposed = bounds.perExposed;
  return `<dl class="figures">${[
    figure(
      "requests",
      grouped(requests.sent),
      `${grouped(requests.get.sent)} GET, ${grouped(requests.post.sent)} POST`,
    ),
    figure(
      "restarts",
      grouped(restarts.length),
      `${grouped(exposure.sent + exposure.inFlight)} requests put to the test`,
    ),
    figure("median", duration(latency.p50)),
    figure("p99", duration(latency.p99)),
    figure("slowest", duration(latency.max)),
    ...(exposed.bad > 0
      ? [figure("lost at a leaving copy", `${grouped(exposed.bad)} of ${grouped(exposed.of)}`)]
      : exposed.upper95 === null
        ? []
        : [
            figure(
              "loss rate below",
              percent(exposed.upper95),
              "of requests to a leaving copy, 95 % confidence",
            ),
          ]),
    ...(witness === null
      ? []
      : [
          figure(
            "lost before work",
            grouped(witness.lostBeforeWork),
            `${grouped(witness.lostDuringWork)} during, ${grouped(witness.lostAfterWork)} after; as the copies saw it`,
          ),
        ]),
    ...(webSockets === null
      ? []
      : [
          figure(
            "WebSockets",
            grouped(webSockets.opened),
            `${grouped(webSockets.cut)} cut, ${grouped(webSockets.cameBack)} came back; ${grouped(webSockets.unanswered)} of ${grouped(webSockets.messages)} messages unanswered`,
          ),
        ]),
    ...(http2 === null
      ? []
      : [
          figure(
            "HTTP/2",
            grouped(http2.sent),
            `${grouped(http2.failed)} without an answer, ${grouped(http2.refused)} of them safe to send again`,
          ),
        ]),
    ...(store.checked
      ? [figure("stored", grouped(store.rows), `${grouped(store.acknowledged)} acknowledged`)]
      : []),
  ].join("")}</dl>`;
}

export function verdictSection(report: RunReport): string {
  const { verdict, warnings } = report;
  const must = verdict.run.parameters["mustShow"];
  const control =
    typeof must === "string" && verdict.outcome !== "invalid"
      ? `<p class="note">This row is a demonstration. It must show: ${escape(must)}.</p>`
      : "";
  const cut = warnings.map((warning) => `<p class="note">${escape(warning)}</p>`).join("");
  return `<section class="verdict ${verdict.outcome}"><div class="headline">${GLYPHS[verdict.outcome]}<div><h1>${escape(titleOf(verdict))}</h1><p>${escape(subtitleOf(verdict))}</p>${cut}${control}</div></div>
<div class="three"><div><h2>What was lost</h2>${lost(verdict)}</div><div><h2>Why</h2>${why(verdict)}</div><div><h2>What to change</h2>${change(verdict)}</div></div>
${figures(verdict)}</section>`;
}
