/** `lastcall-ignore RULE: reason` in a comment: silences a rule on its line, or on the next when it stands alone. */

import type { Draft } from "./finding.ts";
import { type Place, place, position, type Source } from "./source.ts";

export interface Suppression {
  readonly rules: readonly string[];
  readonly reason: string;
  readonly at: Place;
  /** The line it silences; undefined: the whole file. */
  readonly line: number | undefined;
}

const PATTERN = /(?:#|;|\/\/)[ \t]*lastcall-ignore(-file)?\b([^\n]*)/g;

export function suppressionsOf(source: Source): readonly Suppression[] {
  if (!source.text.includes("lastcall-ignore")) {
    return [];
  }
  return [...source.text.matchAll(PATTERN)].map((match) => {
    const { line } = position(source, match.index);
    const [names = "", ...reason] = (match[2] ?? "").trim().split(/:\s|:$/);
    const alone = source.text.slice(source.starts[line - 1] ?? 0, match.index).trim() === "";
    return {
      rules: names.split(/[\s,]+/).filter((name) => name !== ""),
      reason: reason.join(": ").trim(),
      at: place(source, match.index, match.index + match[0].trimEnd().length),
      line: match[1] !== undefined ? undefined : alone ? nextLine(source, line) : line,
    };
  });
}

/** The next line that is neither empty nor a comment. */
function nextLine(source: Source, line: number): number {
  for (let number = line; number < source.starts.length; number += 1) {
    const text = source.text
      .slice(source.starts[number], source.starts[number + 1] ?? source.text.length)
      .trim();
    if (text !== "" && !/^(#|;|\/\/)/.test(text)) {
      return number + 1;
    }
  }
  return line + 1;
}

/** What is wrong with a suppression itself. */
export function complaint(one: Suppression, known: ReadonlySet<string>): Draft | undefined {
  const unknown = one.rules.find((rule) => !known.has(rule));
  if (one.rules.length === 0) {
    return { at: one.at, message: "Name the rule: lastcall-ignore RULE: reason." };
  }
  if (unknown !== undefined) {
    return { at: one.at, message: `There is no rule '${unknown}'.` };
  }
  return one.reason === ""
    ? { at: one.at, message: `Say why: lastcall-ignore ${one.rules.join(", ")}: reason.` }
    : undefined;
}
