/** How an experiment is told: headings, sentences, tables and timelines, as it happens. */

import { wrapText, type Style } from "../render/style.ts";
import type { Check, Judgement } from "./judgement.ts";

export interface Moment {
  /** Since the signal; negative before it. */
  readonly seconds: number;
  readonly source: string;
  readonly text: string;
}

export interface Tale {
  title(title: string, question: string): void;
  /** A new case. */
  part(title: string): void;
  say(text: string): void;
  table(head: readonly string[], rows: readonly (readonly string[])[]): void;
  /** Text that has its own lines. */
  block(text: string): void;
  timeline(title: string, moments: readonly Moment[]): void;
  judgement(judgement: Judgement): void;
}

const WIDTH = 100;
const INDENT = "  ";

function columns(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((row) => (row[column] ?? "").length)),
  );
  return [head, ...rows].map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd(),
  );
}

function checkLine({ claim, seen, holds }: Check, style: Style): string {
  const mark = holds === null ? style.yellow("?") : holds ? style.green("✓") : style.red("✗");
  const wrapped = wrapText(`${claim}: ${seen}`, WIDTH, "    ");
  return `  ${mark} ${wrapped.slice(4)}`;
}

/** Counts that are zero say nothing in a transcript. */
function withoutZeros(text: string): string {
  let shorter = text;
  for (let before = ""; before !== shorter;) {
    before = shorter;
    shorter = shorter.replaceAll(/,?"[^"]+":(?:0|\{\})(?=[,}])/g, "").replaceAll("{,", "{");
  }
  return shorter.replaceAll(/ \S+=\{\}/g, "");
}

export function startTale(write: (text: string) => void, style: Style): Tale {
  const line = (text: string): void => write(`${text}\n`);
  return {
    title: (title, question) => line(`${style.bold(title)}\n\n${wrapText(question, WIDTH, "")}`),
    part: (title) => line(`\n${style.bold(title)}`),
    say: (text) => line(wrapText(text, WIDTH, INDENT)),
    table: (head, rows) => {
      const [first = "", ...rest] = columns(head, rows);
      line(`\n${INDENT}${style.dim(first)}`);
      for (const text of rest) {
        line(INDENT + text);
      }
    },
    block: (text) => line(`\n${text}`),
    timeline: (title, moments) => {
      line(`\n${INDENT}${style.dim(title)}`);
      for (const { seconds, source, text } of moments) {
        line(
          `${INDENT}${seconds.toFixed(3).padStart(8)} s  ${style.dim(source.padEnd(6))}  ${withoutZeros(text)}`,
        );
      }
    },
    judgement: ({ shows, line: last, checks }) => {
      line(`\n${style.bold("What it must show")}`);
      for (const one of checks) {
        line(checkLine(one, style));
      }
      const paint = shows === null ? style.yellow : shows ? style.green : style.red;
      line(`\n${paint(wrapText(last, WIDTH, ""))}`);
    },
  };
}
