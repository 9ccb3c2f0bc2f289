/** Text and places as a page writes them. */

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Everything that comes from a ledger goes through here: a path may hold anything. */
export function escape(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character] ?? "");
}

/** A sentence of ours: what stands between backticks is code. */
export function prose(text: string): string {
  return escape(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** A place on an axis, as SVG and CSS take it: `12.345%`. */
export function place(value: number, from: number, to: number): string {
  return `${Number((((value - from) / (to - from)) * 100).toFixed(3))}%`;
}

/** The same on a raster of two pixels of a wide screen: of a thousand marks in a row those are drawn that can be told apart. */
export function rasterPlace(value: number, from: number, to: number): string {
  return `${Math.round(((value - from) / (to - from)) * 500) / 5}%`;
}

/** An attribute that a length of nothing would make invisible. */
export function span(fromMs: number, toMs: number, from: number, to: number): string {
  const x = Math.max(from, fromMs);
  const width = Math.max(0, Math.min(to, toMs) - x);
  return `x="${place(x, from, to)}" width="${place(width, 0, to - from)}"`;
}
