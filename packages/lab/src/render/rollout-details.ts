/** What one row of a rolling restart has to say beyond its line in the table: its restarts, its kinds, what was measured. Pure. */

import path from "node:path";
import { formatDuration } from "../duration.ts";
import { LEDGER_FILE } from "../ledger/writer.ts";
import { REPORT_FILE } from "../report/write-report.ts";
import { platformAdvice } from "../rollout/platform-words.ts";
import { unasked, type Row } from "../rollout/row.ts";
import { FILES } from "../rollout/service.ts";
import { controlInWords, trialInWords } from "../verdict/reruns.ts";
import type { Verdict } from "../verdict/verdict.ts";
import {
  boundInWords,
  countsInWords,
  http2InWords,
  plural,
  webSocketsInWords,
  witnessInWords,
} from "./in-words.ts";
import { wrapText, wrapUnits, type Style } from "./style.ts";
import { ARROW, loadStartMs, seconds, spansOf, timelineOf } from "./timeline.ts";

const WIDTH = 100;
const TIMELINES_SHOWN = 4;

function labelled(label: string, text: string, style: Style): string {
  const wrapped = text.includes(ARROW)
    ? wrapUnits(text.split(ARROW), ARROW, WIDTH, " ".repeat(16))
    : wrapText(text, WIDTH, " ".repeat(16));
  return `  ${style.dim(label.padEnd(13))} ${wrapped.slice(16)}`;
}

/** `full` when it is the only row. */
export function renderDetails(row: Row, style: Style, full: boolean): string {
  const { plan, verdict, routerLost, folder } = row;
  const lines: string[] = [style.bold(wrapText(`${plan.scenario}: ${verdict.headline}`, WIDTH, ""))];
  const add = (label: string, text: string): void => void lines.push(labelled(label, text, style));
  const shown = verdict.restarts.slice(0, full ? TIMELINES_SHOWN : plan.copies);
  for (const [index, restart] of shown.entries()) {
    add(index === 0 ? "timeline (s)" : "", timelineOf(restart, verdict));
  }
  if (verdict.restarts.length > shown.length) {
    add("", `and ${plural(verdict.restarts.length - shown.length, "more restart")}; over all of them:`);
    add("", spansOf(verdict.restarts));
  }
  for (const restart of verdict.restarts) {
    if (restart.killedMs !== null) {
      add(
        "killed",
        `${restart.copy} was still there ${formatDuration(plan.gracePeriodMs)} after its stop signal and was killed.`,
      );
    }
  }
  for (const { copy, atMs, detail } of unasked(verdict)) {
    const how = detail["signal"] === null ? `exit code ${String(detail["code"])}` : String(detail["signal"]);
    add(
      "by itself",
      `${copy ?? ""} ended ${seconds(atMs - loadStartMs(verdict))} s into the load though nobody had told it to: ${how}. Its words are in ${FILES.output(copy ?? "")}.`,
    );
  }
  add("clients saw", countsInWords(verdict.requests.byAnswer));
  add("router's log", countsInWords(verdict.routerLog));
  if (plan.executedFile !== null && row.counts.rows === 0 && row.counts.acknowledged > 0) {
    add(
      "executed",
      `${plan.executedFile} held not one id of this run, which looks more like a wrong path than like lost work: the service appends each id to it, and the lab looks for it from where it was started.`,
    );
  }
  if (verdict.witness !== null) {
    add("witness", witnessInWords(verdict.witness));
  }
  if (verdict.webSockets !== null) {
    add("WebSockets", webSocketsInWords(verdict.webSockets));
  }
  if (verdict.http2 !== null) {
    add("HTTP/2", http2InWords(verdict.http2));
  }
  for (const kind of full ? verdict.kinds : []) {
    const what = `${kind.title.toLowerCase()} (${kind.id})`;
    add(
      kind.count > 0 ? "went wrong" : kind.fails ? "found" : "noted",
      kind.count > 0
        ? `${kind.count} ${what}: ${kind.get} GET, ${kind.post} POST, charged to the ${kind.chargedTo}.`
        : `${what}.`,
    );
    add("", `${kind.why} ${kind.advice}`);
    add("", style.dim(`${kind.confidence}: ${kind.evidence}`));
  }
  if (routerLost > 0) {
    add(
      "apart",
      `${plural(routerLost, "request")} lost by the router itself: the service could not have saved ${routerLost === 1 ? "it" : "them"}, and is not charged.`,
    );
  }
  if (full || verdict.requests.byCharge.service === 0) {
    add("bounds", boundInWords(verdict.bounds.perRestart, "restarts", "lost something"));
    add("", boundInWords(verdict.bounds.perExposed, "requests to a leaving copy", "were lost"));
  }
  if (full) {
    const { exposure, dispatchLag } = verdict;
    add(
      "exposed",
      `${exposure.sent} sent to a leaving copy between its signal and its exit, ${exposure.inFlight} in flight at the signal`,
    );
    add(
      "load engine",
      `dispatch lag p99 ${dispatchLag.p99 === null ? "-" : `${dispatchLag.p99.toFixed(1)} ms`} (a run above ${dispatchLag.limitP99Ms} ms is invalid)`,
    );
    const couldAsk = verdict.notLookedFor.filter(({ needs }) => needs.includes("--"));
    if (couldAsk.length > 0) {
      const kinds = couldAsk.map(({ id, slug }) => `${id} ${slug}`).join(", ");
      const flags = [...new Set(couldAsk.map(({ needs }) => needs.slice(needs.indexOf("--"))))].join(", ");
      add("not asked", `${kinds}: this run could not show them (${flags}).`);
    }
    lines.push(...settings(verdict, style), ...inPlatformWords(row, style));
  }
  for (const [index, trial] of verdict.trials.entries()) {
    add(index === 0 ? "explained" : "", trialInWords(trial));
  }
  for (const [index, control] of verdict.controls.entries()) {
    add(index === 0 ? "controls" : "", controlInWords(control));
  }
  add("report", path.join(folder, REPORT_FILE));
  add("ledger", path.join(folder, LEDGER_FILE));
  return lines.join("\n");
}

function settings(verdict: Verdict, style: Style): readonly string[] {
  const { routerLagMs, longestRequestMs, teardownMs, startMs } = verdict.advice;
  const { drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs } = verdict.advice.settings;
  const measured = [
    ["router lag", routerLagMs],
    ["longest request", longestRequestMs],
    ["teardown", teardownMs],
    ["start", startMs],
  ] as const;
  const set = [
    ["drainDelayMs", drainDelayMs],
    ["gracefulTimeoutMs", gracefulTimeoutMs],
    ["teardownTimeoutMs", teardownTimeoutMs],
    ["gracePeriodMs", gracePeriodMs],
  ] as const;
  const known = (
    pairs: readonly (readonly [string, number | null])[],
    form: (ms: number) => string,
  ): string => pairs.flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${form(ms)}`])).join(", ");
  return [
    labelled("measured", known(measured, (ms) => `${seconds(ms)} s`) || "nothing", style),
    labelled("would set", known(set, String) || "nothing", style),
  ];
}

/** The lines to change on the user's platform, with the numbers that were measured. */
function inPlatformWords({ plan, verdict }: Row, style: Style): readonly string[] {
  const advice = plan.platform === null ? null : platformAdvice(verdict, plan.platform);
  if (advice === null) {
    return [];
  }
  return [
    labelled(advice.platform, advice.sum, style),
    ...advice.lines.map(({ text, why }) => {
      const comment = why === "" ? "" : style.dim(`\n${wrapText(why, WIDTH, " ".repeat(18))}`);
      return `${" ".repeat(16)}${style.bold(text)}${comment}`;
    }),
    ...(advice.emit === null ? [] : [labelled("whole file", advice.emit, style)]),
  ];
}
