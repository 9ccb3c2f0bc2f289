/** Colour, or none: the same text either way. */

export interface Style {
  readonly bold: (text: string) => string;
  readonly dim: (text: string) => string;
  readonly red: (text: string) => string;
  readonly green: (text: string) => string;
  readonly yellow: (text: string) => string;
}

const wrap =
  (on: number, off: number) =>
  (text: string): string =>
    `\u001B[${on}m${text}\u001B[${off}m`;
const plain = (text: string): string => text;

export const COLOUR: Style = {
  bold: wrap(1, 22),
  dim: wrap(2, 22),
  red: wrap(31, 39),
  green: wrap(32, 39),
  yellow: wrap(33, 39),
};
export const PLAIN: Style = { bold: plain, dim: plain, red: plain, green: plain, yellow: plain };

/** https://no-color.org: any value that is not empty. */
export function styleFor(
  terminal: boolean,
  noColor: boolean,
  env: Readonly<Record<string, string | undefined>>,
): Style {
  return terminal && !noColor && (env["NO_COLOR"] ?? "") === "" && env["TERM"] !== "dumb" ? COLOUR : PLAIN;
}

/** Words broken into lines of at most `width`, each behind `indent`. */
export function wrapText(text: string, width: number, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(/\s+/)) {
    if (line !== "" && indent.length + line.length + 1 + word.length > width) {
      lines.push(indent + line);
      line = word;
    } else {
      line = line === "" ? word : `${line} ${word}`;
    }
  }
  return [...lines, indent + line].join("\n");
}
