/** A file as text, and places in it: offsets that become lines and columns only when somebody asks. */

export interface Source {
  /** As the user will read it: relative to where the command runs, with forward slashes. */
  readonly path: string;
  readonly text: string;
  /** The offset at which each line starts. */
  readonly starts: readonly number[];
}

/** A stretch of a file: offsets, the end not included. */
export interface Place {
  readonly source: Source;
  readonly start: number;
  readonly end: number;
}

export function makeSource(path: string, text: string): Source {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) {
    starts.push(at + 1);
  }
  return { path, text, starts };
}

/** Clamped to the file: parsers point one past its end when something is missing there. */
export function place(source: Source, start: number, end: number): Place {
  const from = Math.min(Math.max(0, start), source.text.length);
  return { source, start: from, end: Math.min(Math.max(from, end), source.text.length) };
}

/** Line and column of an offset, both counted from 1. */
export function position(source: Source, offset: number): { line: number; column: number } {
  let low = 0;
  let high = source.starts.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((source.starts[middle] ?? 0) <= offset) {
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  return { line: low + 1, column: offset - (source.starts[low] ?? 0) + 1 };
}

export function lineOf(at: Place): number {
  return position(at.source, at.start).line;
}

/** The text of one line (from 1) without its end. */
export function lineText(source: Source, line: number): string {
  const start = source.starts[line - 1];
  if (start === undefined) {
    return "";
  }
  const next = source.starts[line] ?? source.text.length + 1;
  return source.text.slice(start, next - 1).replace(/\r$/, "");
}

export function slice(at: Place): string {
  return at.source.text.slice(at.start, at.end);
}

export function where(at: Place): string {
  return `${at.source.path}:${lineOf(at)}`;
}
