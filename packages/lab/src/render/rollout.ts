/** The report of a rolling restart for a terminal of 100 columns: the table, then what each row has to say. Pure. */

import path from "node:path";
import { formatDuration } from "../duration.ts";
import { LEDGER_FILE } from "../ledger/writer.ts";
import { REPORT_FILE } from "../report/write-report.ts";
import { platformAdvice } from "../rollout/platform-words.ts";
import { unasked, type Row } from "../rollout/row.ts";
import { FILES } from "../rollout/service.ts";
import { controlInWords, trialInWords } from "../verdict/reruns.ts";
import type {
  Bound,
  Http2Verdict,
  KindTally,
  Verdict,
  WebSocketVerdict,
  WitnessVerdict,
} from "../verdict/verdict.ts";
import { wrapText, wrapUnits, type Style } from "./style.ts";
import { ARROW, loadStartMs, seconds, spansOf, timelineOf } from "./timeline.ts";

const WIDTH = 100;
const TIMELINES_SHOWN = 4;
/** Columns of the table's second field. */
const TITLE = 32;

const duration = (ms: number | null): string => (ms === null ? "-" : `${seconds(ms)} s`);
const plural = (count: number, one: string, many = `${one}s`): string =>
  `${count} ${count === 1 ? one : many}`;

/** Right-aligned numbers; zero stays quiet. */
function cell(value: number | string, width: number, style: Style, alarm = false): string {
  const text = String(value).padStart(width);
  return alarm && value !== 0 ? style.bold(text) : text;
}

const HEAD = `  ${"row".padEnd(13)} ${"what is done".padEnd(TITLE)}${"sent".padStart(6)}${"GET".padStart(5)}${"POST".padStart(5)}${"slow".padStart(5)}${"slowest".padStart(9)}${"201s".padStart(6)}${"rows".padStart(6)}  shows it`;

function tableRow({ plan, verdict, counts, shown }: Row, style: Style): string {
  const mark = shown ? style.green("✓") : style.red("✗");
  return [
    `${mark} ${style.bold(plan.scenario.padEnd(13))} ${plan.title.slice(0, TITLE).padEnd(TITLE)}`,
    cell(verdict.requests.sent, 6, style),
    cell(counts.getFailed, 5, style, true),
    cell(counts.postFailed, 5, style, true),
    cell(counts.slow, 5, style, true),
    cell(duration(verdict.latency.max), 9, style),
    cell(counts.acknowledged, 6, style),
    cell(counts.rows ?? "-", 6, style),
    `  ${shown ? style.green("yes") : style.red("no")}`,
  ].join("");
}

/** `19 closed door, 1 in-flight cut`, or nothing. */
export function kindsInWords(kinds: readonly KindTally[]): string {
  return kinds
    .filter(({ count }) => count > 0)
    .map(({ count, title, id }) => `${count} ${title.toLowerCase()} (${id})`)
    .join(", ");
}

function underRow(row: Row, style: Style): string {
  const { inDoubt } = row.counts;
  const doubt = inDoubt === 0 ? "" : `${plural(inDoubt, "row")} stored and never acknowledged`;
  const seen = [kindsInWords(row.verdict.kinds), doubt].filter((words) => words !== "").join(", ");
  const text = `must show: ${row.plan.mustShow} · seen: ${seen === "" ? "nothing lost" : seen}`;
  const lines = [style.dim(wrapText(text, WIDTH, " ".repeat(16)))];
  if (row.why !== null) {
    lines.push(style.red(wrapText(row.why, WIDTH, " ".repeat(16))));
  }
  return lines.join("\n");
}

/** What all rows share: the line above the table. */
export function renderHead(rows: readonly Row[]): string {
  const [first] = rows;
  if (first === undefined) {
    return "";
  }
  const { plan, verdict } = first;
  const parts = [
    verdict.run.router,
    `${plan.copies} copies`,
    `${plan.ratePerSecond} requests/s`,
    plan.router.removal === "readiness"
      ? `readiness asked every ${formatDuration(plan.router.health.intervalMs)}`
      : `router lag ${formatDuration(plan.propagationMs)}`,
    ...(plan.order === "parallel" ? [] : ["router told first"]),
    ...(plan.repeat === 1 ? [] : [`${plan.repeat} restarts of each copy`]),
    ...(plan.router.upstreamKeepAlive ? ["upstream keep-alive"] : []),
    ...(plan.router.clientKeepAlive ? ["client keep-alive"] : []),
    ...(plan.router.pooledAtRemoval === "closed-when-idle"
      ? []
      : [`connections ${plan.router.pooledAtRemoval} at the removal`]),
    ...(plan.router.http2 === undefined
      ? []
      : [plan.router.http2 === "only" ? "clients speak HTTP/2" : "some clients speak HTTP/2"]),
    ...(plan.load.engine === "raw" ? [] : [`sent by ${plan.load.engine}`]),
    `seed ${plan.seed}`,
  ];
  return wrapUnits([`Rolling restart: ${parts[0]}`, ...parts.slice(1)], ", ", WIDTH, "");
}

export function renderTable(rows: readonly Row[], style: Style): string {
  const failed = `  ${" ".repeat(13)} ${" ".repeat(TITLE)}${" ".repeat(6)}${"─ failed ─".padStart(10)}`;
  return [
    style.dim(failed),
    style.dim(HEAD),
    style.dim("─".repeat(WIDTH)),
    ...rows.flatMap((row) => [tableRow(row, style), underRow(row, style)]),
    style.dim("─".repeat(WIDTH)),
  ].join("\n");
}

function bound({ bad, of, upper95 }: Bound, unit: string): string {
  const told = `${bad} of ${of} ${unit}`;
  if (upper95 === null) {
    return `${told}: nothing is known`;
  }
  if (upper95 >= 1) {
    return bad === 0 ? `${told}: too few for a bound (--repeat N)` : told;
  }
  return `${told}: below ${percent(upper95)} with 95 % confidence`;
}

export function percent(share: number): string {
  const value = share * 100;
  return `${value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toPrecision(2)} %`;
}

function list(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).filter(([, count]) => count > 0);
  return entries.length === 0 ? "none" : entries.map(([name, count]) => `${count} ${name}`).join(", ");
}

function witnessInWords(seen: WitnessVerdict): string {
  const lost = [
    [seen.lostBeforeWork, "before work"],
    [seen.lostDuringWork, "during work"],
    [seen.lostAfterWork, "after work"],
  ] as const;
  const words = lost.filter(([count]) => count > 0).map(([count, when]) => `${count} lost ${when}`);
  const twice = [
    ...(seen.begunTwice > 0 ? [`${seen.begunTwice} begun twice`] : []),
    ...(seen.executedTwice.length > 0 ? [`${seen.executedTwice.length} executed twice`] : []),
  ];
  const all = [...words, ...twice];
  return `${plural(seen.arrivals, "arrival")} at the copies${all.length === 0 ? "" : `: ${all.join(", ")}`}`;
}

function webSocketsInWords(seen: WebSocketVerdict): string {
  const codes = Object.entries(seen.closeCodes).map(([code, count]) => `${count} told to go with ${code}`);
  const ends = [
    ...codes,
    ...(seen.cameBack > 0 ? [`${seen.cameBack} came back`] : []),
    ...(seen.cut > 0 ? [`${seen.cut} cut without a close frame`] : []),
  ];
  const unanswered = [
    ...(seen.crossed > 0 ? [`${seen.crossed} crossed a close frame`] : []),
    ...(seen.unanswered > 0 ? [`${seen.unanswered} unanswered`] : []),
  ];
  const said = [`${plural(seen.messages, "message")}, ${seen.answered} answered`, ...unanswered].join(", ");
  return `${[`${seen.opened} of ${seen.asked} opened`, ...ends].join(", ")}; ${said}`;
}

function http2InWords({ sent, failed, refused }: Http2Verdict): string {
  const safe = refused === 0 ? "" : `, ${refused} of them refused and safe to send again`;
  return `${plural(sent, "request")}, ${failed} without an answer${safe}`;
}

function labelled(label: string, text: string, style: Style): string {
  const wrapped = text.includes(ARROW)
    ? wrapUnits(text.split(ARROW), ARROW, WIDTH, " ".repeat(16))
    : wrapText(text, WIDTH, " ".repeat(16));
  return `  ${style.dim(label.padEnd(13))} ${wrapped.slice(16)}`;
}

/** What a row has to say beyond its line in the table; `full` when it is the only row. */
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
  add("clients saw", list(verdict.requests.byAnswer));
  add("router's log", list(verdict.routerLog));
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
    add("bounds", bound(verdict.bounds.perRestart, "restarts lost something"));
    add("", bound(verdict.bounds.perExposed, "requests to a leaving copy were lost"));
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

/** The last line: what the whole run says. */
export function renderOutcome(rows: readonly Row[], style: Style): string {
  const good = rows.filter((row) => row.shown).length;
  const invalid = rows.filter((row) => row.verdict.outcome === "invalid").length;
  if (invalid > 0) {
    return style.yellow(`${plural(invalid, "row is", "rows are")} invalid: this run proves nothing there.`);
  }
  const builtIn = rows.every((row) => row.plan.expectation !== null);
  const bad = rows.filter((row) => !row.shown);
  const words = builtIn
    ? `${good} of ${plural(rows.length, "row shows", "rows show")} what ${rows.length === 1 ? "it" : "they"} must.`
    : bad.length === 0
      ? "Nothing was lost by the service."
      : `Findings: ${bad.map((row) => `${row.plan.scenario}, ${row.why}`).join("; ")}.`;
  return good === rows.length ? style.green(words) : style.red(words);
}
