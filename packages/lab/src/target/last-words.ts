/** What a service printed last, as the end of an error message: where it went wrong usually stands there. */

import { stripVTControlCharacters } from "node:util";

const SHOWN = 8;

/** Stack frames, and what npm says under every failure. */
const NOISE = /^\s+at |^npm (?:error|ERR!)$|^npm (?:error|ERR!) A complete log of this run/;

/** Noise and blank lines are left out, so that the error itself is among the lines that fit; colours are the terminal's business. */
export function lastWords(lines: readonly string[]): string {
  const telling = lines
    .map((line) => stripVTControlCharacters(line).trimEnd())
    .filter((line) => line !== "" && !NOISE.test(line));
  return telling.length === 0
    ? " It printed nothing."
    : ` Its last lines:\n${telling
        .slice(-SHOWN)
        .map((line) => `    ${line}`)
        .join("\n")}`;
}
