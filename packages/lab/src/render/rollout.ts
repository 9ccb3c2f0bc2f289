/** The table of a rolling restart for a terminal of 100 columns, with the line above it and the last one. Pure. */

import { formatDuration } from "../duration.ts";
import type { Row } from "../rollout/row.ts";
import { kindsInWords, plural } from "./in-words.ts";
import { wrapText, wrapUnits, type Style } from "./style.ts";
import { seconds } from "./timeline.ts";

const WIDTH = 100;
/** Columns of the table's second field. */
const TITLE = 32;

const duration = (ms: number | null): string => (ms === null ? "-" : `${seconds(ms)} s`);

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
  return (good === rows.length ? style.green : style.red)(wrapText(words, WIDTH, ""));
}
