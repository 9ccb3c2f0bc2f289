/** What a service printed last, as the end of an error message: where it went wrong usually stands there. */

const SHOWN = 8;

/** Stack frames and blank lines are left out, so that the error itself is among the lines that fit. */
export function lastWords(lines: readonly string[]): string {
  const telling = lines.map((line) => line.trimEnd()).filter((line) => line !== "" && !/^\s+at /.test(line));
  return telling.length === 0
    ? " It printed nothing."
    : ` Its last lines:\n${telling
        .slice(-SHOWN)
        .map((line) => `    ${line}`)
        .join("\n")}`;
}
