/** The before/after table of `lastcall check`, the findings in words, and what to paste. */

import type { Comparison, Seen } from "../check/compare.ts";
import { CHECK_DRAIN_DELAY, RUNS_ALREADY } from "../check/compare.ts";
import type { Fates, Observation } from "../check/observe.ts";
import { wrapText, type Style } from "./style.ts";

interface Cell {
  readonly text: string;
  readonly mood: "good" | "bad" | "so-so";
}

interface Line {
  readonly what: string;
  readonly cell: (seen: Observation) => Cell;
}

const total = (fates: Fates): number => fates.answered + fates.refused + fates.lost;

function fatesCell(fates: Fates | null, untried: string): Cell {
  if (fates === null) {
    return { text: untried, mood: "so-so" };
  }
  if (fates.lost > 0) {
    return { text: `${fates.lost} of ${total(fates)} lost`, mood: "bad" };
  }
  return fates.refused > 0
    ? { text: `${fates.answered} answered, ${fates.refused} refused`, mood: "so-so" }
    : { text: total(fates) === 1 ? "answered" : `all ${fates.answered} answered`, mood: "good" };
}

function exitCell(seen: Observation): Cell {
  const { exit, leftBehind } = seen;
  if (exit === null) {
    return { text: "never left; killed", mood: "bad" };
  }
  const after = `${(exit.afterMs / 1000).toFixed(2)} s`;
  if (leftBehind.length > 0) {
    return { text: "left its service behind", mood: "bad" };
  }
  return exit.signal === null
    ? { text: `code ${exit.code} after ${after}`, mood: exit.code === 0 ? "good" : "so-so" }
    : { text: `ended by ${exit.signal} after ${after}`, mood: lostIn(seen) > 0 ? "bad" : "so-so" };
}

function readinessCell({ notReadyMs }: Observation): Cell {
  if (notReadyMs === null) {
    return { text: "none found: see --ready", mood: "so-so" };
  }
  return notReadyMs === Number.POSITIVE_INFINITY
    ? { text: "never said not ready", mood: "bad" }
    : { text: `not ready after ${Math.round(notReadyMs)} ms`, mood: "good" };
}

const LINES: readonly Line[] = [
  {
    what: "a request in flight",
    cell: (seen) => fatesCell(seen.inFlight, "not tried: see --slow"),
  },
  { what: "requests half sent", cell: (seen) => fatesCell(seen.halfSent, "") },
  {
    what: "next request of pooled connections",
    cell: (seen) => fatesCell(seen.pooled, "none: it keeps no connection open"),
  },
  { what: "new connections in the next second", cell: (seen) => freshCell(seen.fresh) },
  { what: "clients told to go elsewhere", cell: (seen) => toldCell(seen) },
  { what: "readiness", cell: readinessCell },
  { what: "exit", cell: exitCell },
];

function freshCell(fates: Fates): Cell {
  const cell = fatesCell(fates, "");
  return cell.mood === "so-so" && fates.answered === 0
    ? { text: `all ${fates.refused} refused`, mood: "so-so" }
    : cell;
}

function toldCell({ told }: Observation): Cell {
  return told.of === 0
    ? { text: "nobody was answered", mood: "bad" }
    : {
        text: `${told.yes} of ${told.of}`,
        mood: told.yes === told.of ? "good" : told.yes === 0 ? "bad" : "so-so",
      };
}

/** Requests that were sent and never answered. */
export function lostIn({ inFlight, halfSent, pooled, fresh }: Observation): number {
  return (inFlight?.lost ?? 0) + halfSent.lost + (pooled?.lost ?? 0) + fresh.lost;
}

/** Whether the stop broke something: lost requests, a process that had to be killed, one left behind. */
export function isBad(observation: Observation): boolean {
  const { exit, leftBehind } = observation;
  return lostIn(observation) > 0 || exit === null || leftBehind.length > 0;
}

const WIDTH = 100;
/** Between the two columns; the sign and its space stand before each. */
const GAP = 2;
const SIGN = 2;

function paint(style: Style, { text, mood }: Cell, width: number): string {
  const sign = { good: style.green("✓"), bad: style.red("✗"), "so-so": style.yellow("·") }[mood];
  return `${sign} ${text.padEnd(width + GAP)}`;
}

function summary(seen: Seen): string {
  const lost = lostIn(seen.observation);
  if (lost > 0) {
    return `${lost} request${lost === 1 ? "" : "s"} lost in one stop`;
  }
  return isBad(seen.observation) ? "nothing lost, but a bad exit" : "nothing lost";
}

/** What to do with it. */
function advice({ withLastcall, why, paste, today }: Comparison, style: Style): readonly string[] {
  const { exit, leftBehind } = today.observation;
  if (leftBehind.length > 0) {
    const after = exit === null ? "" : ` after ${(exit.afterMs / 1000).toFixed(2)} s`;
    const text = `The signal reached a wrapper (a shell, a package manager), which left${after} and left its service behind, still on port ${leftBehind.join(", ")}: start the service itself, or let the wrapper become it (\`exec\` in a shell). Then check again.`;
    return [wrapText(text, WIDTH, "")];
  }
  if (withLastcall === null) {
    return [
      `No second column: ${why}.`,
      ...(why === RUNS_ALREADY && today.observation.fresh.refused > 0
        ? [
            "New connections were refused since its drain delay is shorter than this second: behind a router set",
            "LASTCALL_DRAIN_DELAY to more than the router's lag.",
          ]
        : []),
      ...(isBad(today.observation)
        ? ["What a stop should keep, in any language, is judged clause by clause by `lastcall prove`."]
        : []),
    ];
  }
  return [
    isBad(withLastcall.observation)
      ? "The right-hand column comes from this:"
      : "To get the right-hand column, start it like this:",
    "",
    `    ${style.bold(paste)}`,
    "",
    style.dim(
      `It ran with LASTCALL_DRAIN_DELAY=${CHECK_DRAIN_DELAY}. Behind a router set it to more than the router's lag:`,
    ),
    style.dim("`lastcall rollout` shows what happens otherwise."),
  ];
}

export function renderCheck(comparison: Comparison, signal: string, style: Style): string {
  const { today, withLastcall } = comparison;
  const columns = withLastcall === null ? [today] : [today, withLastcall];
  const rows = LINES.map(({ what, cell }) => ({
    what,
    cells: columns.map((seen) => cell(seen.observation)),
  }));
  const width = Math.max(summary(today).length, ...rows.map(({ cells }) => cells[0]?.text.length ?? 0));
  const first = Math.max(...LINES.map(({ what }) => what.length));
  const out = [
    "",
    `${style.bold(`What one ${signal} does`)} ${style.dim(`(port ${today.port}, GET ${today.route}${today.status < 400 ? "" : ` gives ${today.status}`}, up in ${(today.startMs / 1000).toFixed(1)} s)`)}`,
    "",
    style.dim(
      `  ${"".padEnd(first)}  ${"today".padEnd(SIGN + width + GAP)}${withLastcall === null ? "" : "with lastcall"}`,
    ),
    ...rows.map(({ what, cells }) =>
      `  ${what.padEnd(first)}  ${cells.map((cell) => paint(style, cell, width)).join("")}`.trimEnd(),
    ),
    "",
    `  ${"in short".padEnd(first)}  ${summary(today).padEnd(SIGN + width + GAP)}${withLastcall === null ? "" : style.bold(summary(withLastcall))}`,
    "",
  ];
  out.push(...advice(comparison, style), "");
  return `${out.map((line) => line.trimEnd()).join("\n")}\n`;
}
