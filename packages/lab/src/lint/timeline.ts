/** A workload's stop as a picture: bars from the stop decision to SIGKILL, for the terminal and as SVG. */

import { xml } from "../render/xml.ts";
import type { BudgetSum } from "./budget.ts";
import { where } from "./source.ts";
import { originText, seconds } from "./time.ts";

export interface Bar {
  readonly label: string;
  readonly fromMs: number;
  readonly toMs: number;
  readonly kind: "preStop" | "delay" | "graceful" | "teardown" | "spare" | "over" | "unknown";
  /** `15 s  deploy.yaml:12`. */
  readonly note: string;
}

const KINDS: Readonly<Record<string, Bar["kind"]>> = {
  "preStop hook": "preStop",
  "drain delay": "delay",
  "graceful timeout": "graceful",
  "teardown timeout": "teardown",
  "the service's own grace period": "graceful",
};

/** The parts one after the other, then what is left or missing. */
export function barsOf(sum: BudgetSum): readonly Bar[] {
  const bars: Bar[] = [];
  let at = 0;
  for (const { name, ms, origin, atLeast } of sum.items) {
    bars.push({
      label: name,
      fromMs: at,
      toMs: at + ms,
      kind: KINDS[name] ?? "graceful",
      note: `${atLeast ? "at least " : ""}${seconds(ms)}  ${originText(origin)}`,
    });
    at += ms;
  }
  if (!Number.isFinite(sum.timer.ms)) {
    return bars;
  }
  if (sum.slackMs < 0) {
    bars.push({
      label: "killed before the end",
      fromMs: sum.timer.ms,
      toMs: at,
      kind: "over",
      note: `${seconds(-sum.slackMs)} too long`,
    });
  } else if (sum.complete) {
    bars.push({ label: "left", fromMs: at, toMs: sum.timer.ms, kind: "spare", note: seconds(sum.slackMs) });
  } else {
    bars.push({
      label: "not known",
      fromMs: at,
      toMs: sum.timer.ms,
      kind: "unknown",
      note: `${seconds(sum.slackMs)} are there for it`,
    });
  }
  return bars;
}

const FILL: Readonly<Record<Bar["kind"], string>> = {
  preStop: "▒",
  delay: "░",
  graceful: "█",
  teardown: "▓",
  spare: "·",
  over: "✗",
  unknown: "?",
};
const COLUMNS = 56;

export function drawText(sum: BudgetSum): string {
  const bars = barsOf(sum);
  const whole = Math.max(1, sum.sumMs, Number.isFinite(sum.timer.ms) ? sum.timer.ms : 0);
  const column = (ms: number): number => Math.round((ms / whole) * COLUMNS);
  const width = Math.max(...bars.map(({ label }) => label.length), 10);
  const kill = Number.isFinite(sum.timer.ms) ? column(sum.timer.ms) : undefined;
  const rows = bars.map(({ label, fromMs, toMs, kind, note }) => {
    const from = column(fromMs);
    const length = Math.max(toMs > fromMs ? 1 : 0, column(toMs) - from);
    const bar = `${" ".repeat(from)}${FILL[kind].repeat(length)}`.padEnd(COLUMNS + 1);
    const cells = kill !== undefined && bar[kill] === " " ? put(bar, kill, "┃") : bar;
    return `  ${label.padEnd(width)}  ${cells}  ${note}`.trimEnd();
  });
  const hook = sum.items.find(({ name }) => name === "preStop hook");
  let marks = put(" ".repeat(COLUMNS + 1), 0, "┬");
  if (hook !== undefined && hook.ms > 0) {
    marks = put(marks, column(hook.ms), "┬");
  }
  if (kill !== undefined) {
    marks = put(marks, kill, "┻");
  }
  const start =
    hook === undefined || hook.ms === 0
      ? "SIGTERM at 0 s"
      : `stop decision at 0 s, SIGTERM at ${hook.atLeast ? "the earliest at " : ""}${seconds(hook.ms)}`;
  const end =
    kill === undefined
      ? "never SIGKILL"
      : `SIGKILL at ${seconds(sum.timer.ms)} (${sum.timer.name}, ${originText(sum.timer.origin)})`;
  return [
    `${sum.workload.name}  ${where(sum.workload.at)}${sum.workload.members.length > 1 ? `  (${sum.member.name} decides)` : ""}`,
    "",
    ...rows,
    `  ${" ".repeat(width)}  ${marks}`.trimEnd(),
    `  ${" ".repeat(width)}  ${start}; ${end}`,
    "",
    `  ${verdict(sum)}`,
    "",
  ].join("\n");
}

/** One cell of a line replaced; every character of the picture is one column wide. */
function put(line: string, at: number, cell: string): string {
  return line.slice(0, at) + cell + line.slice(at + 1);
}

/** One sentence on the sum. */
export function verdict(sum: BudgetSum): string {
  const total = `${sum.complete ? "" : "at least "}${seconds(sum.sumMs)}`;
  if (sum.items.length === 0) {
    return `Nothing is known about what the service needs: it has ${seconds(sum.timer.ms)}.`;
  }
  if (sum.slackMs < 0) {
    return `Does not fit: ${total} of ${seconds(sum.timer.ms)}. Raise ${sum.timer.name} to ${seconds(Math.ceil((sum.sumMs + sum.marginMs) / 1000) * 1000)} or cut a part.`;
  }
  if (sum.slackMs < sum.marginMs) {
    return `Hardly fits: ${total} of ${seconds(sum.timer.ms)}; ${seconds(sum.marginMs)} should be left.`;
  }
  return sum.complete
    ? `Fits: ${total} of ${seconds(sum.timer.ms)}.`
    : `Fits as far as it is known: ${total} of ${seconds(sum.timer.ms)}.`;
}

const COLOURS: Readonly<Record<Bar["kind"], string>> = {
  preStop: "#8e7cc3",
  delay: "#6fa8dc",
  graceful: "#3d85c6",
  teardown: "#45818e",
  spare: "#b6d7a8",
  over: "#cc0000",
  unknown: "#999999",
};

/** All workloads below one another, in one file that needs nothing else. */
export function drawSvg(sums: readonly BudgetSum[]): string {
  const left = 190;
  const scale = 520;
  const width = left + scale + 260;
  const parts: string[] = [];
  let y = 20;
  for (const sum of sums) {
    const whole = Math.max(1, sum.sumMs, Number.isFinite(sum.timer.ms) ? sum.timer.ms : 0);
    const x = (ms: number): number => Number((left + (ms / whole) * scale).toFixed(1));
    parts.push(
      `<text class="name" x="12" y="${y}">${xml(sum.workload.name)}</text><text class="dim" x="${left}" y="${y}">${xml(verdict(sum))}</text>`,
    );
    const top = y + 12;
    y = top;
    for (const { label, fromMs, toMs, kind, note } of barsOf(sum)) {
      const length = Math.max(1, Number((x(toMs) - x(fromMs)).toFixed(1)));
      parts.push(
        `<text x="12" y="${y + 13}">${xml(label)}</text><rect x="${x(fromMs)}" y="${y + 2}" width="${length}" height="14" rx="2" fill="${COLOURS[kind]}"/><text class="dim" x="${left + scale + 12}" y="${y + 13}">${xml(note)}</text>`,
      );
      y += 20;
    }
    if (Number.isFinite(sum.timer.ms)) {
      parts.push(
        `<line class="kill" x1="${x(sum.timer.ms)}" x2="${x(sum.timer.ms)}" y1="${top}" y2="${y + 4}"/><text class="dim" x="${x(sum.timer.ms)}" y="${y + 16}" text-anchor="end">SIGKILL at ${seconds(sum.timer.ms)}</text>`,
      );
    }
    y += 46;
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${y}" viewBox="0 0 ${width} ${y}" role="img" aria-label="From the stop decision to SIGKILL">
<style>
text { font: 12px ui-monospace, monospace; fill: #222 }
.name { font-weight: bold }
.dim { fill: #666 }
.kill { stroke: #cc0000; stroke-width: 2 }
rect.page { fill: #fff }
@media (prefers-color-scheme: dark) { text { fill: #eee } .dim { fill: #aaa } rect.page { fill: #1b1b1b } }
</style>
<rect class="page" width="${width}" height="${y}"/>
${parts.join("\n")}
</svg>
`;
}
