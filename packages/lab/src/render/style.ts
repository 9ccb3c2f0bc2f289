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

/** Units that stay whole, joined by `joiner` and broken into lines of at most `width`, each behind `indent`. */
export function wrapUnits(units: readonly string[], joiner: string, width: number, indent: string): string {
  const lines: string[] = [];
  let line = "";
  for (const unit of units) {
    const longer = line === "" ? unit : line + joiner + unit;
    if (line !== "" && indent.length + longer.length + joiner.trimEnd().length > width) {
      lines.push(indent + line + joiner.trimEnd());
      line = unit;
    } else {
      line = longer;
    }
  }
  return [...lines, indent + line].join("\n");
}

export function wrapText(text: string, width: number, indent: string): string {
  return wrapUnits(text.split(/\s+/), " ", width, indent);
}
