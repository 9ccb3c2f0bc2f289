/** How each kind of failure looks: a shape and a colour of its own, so that neither is needed to tell them apart. */

import type { KindTally } from "../../verdict/verdict.ts";
import type { Colour } from "./png.ts";

/** After Okabe and Ito's palette, which people with any colour vision can tell apart; dark enough for white, light enough for black. */
const COLOURS: readonly (readonly [number, number, number])[] = [
  [213, 94, 0],
  [190, 92, 150],
  [214, 146, 0],
  [0, 132, 196],
  [0, 150, 110],
  [128, 128, 128],
];

/** Around (0, 0), eight units wide. Stroked as well as filled. */
const SHAPES: readonly string[] = [
  "M-3.4-3.4 3.4 3.4M3.4-3.4-3.4 3.4",
  "M0-4.2 3.9 3.2H-3.9Z",
  "M-3.2-3.2H3.2V3.2H-3.2Z",
  "M0-4.4 4.4 0 0 4.4-4.4 0Z",
  "M-4 0H4M0-4V4",
  "M0 4.2-3.9-3.2H3.9Z",
  "M-3.8 0A3.8 3.8 0 1 0 3.8 0A3.8 3.8 0 1 0-3.8 0Z",
];

export interface Look {
  readonly index: number;
  /** Of the symbol in the page's definitions. */
  readonly id: string;
  readonly shape: string;
  readonly colour: Colour;
}

/** Six colours and seven shapes: the first 42 kinds differ in the pair. */
export function lookOf(index: number): Look {
  const [red, green, blue] = COLOURS[index % COLOURS.length] ?? [128, 128, 128];
  return {
    index,
    id: `k${index}`,
    shape: SHAPES[index % SHAPES.length] ?? "",
    colour: [red, green, blue, 255],
  };
}

export function cssColour([red, green, blue]: Colour): string {
  return `rgb(${red} ${green} ${blue})`;
}

/** The symbols to which `<use href="#k0">` refers. */
export function definitions(kinds: readonly KindTally[]): string {
  const symbols = kinds.map((_, index) => {
    const { id, shape, colour } = lookOf(index);
    const css = cssColour(colour);
    return `<path id="${id}" d="${shape}" fill="${css}" stroke="${css}" stroke-width="1.7" stroke-linejoin="round" stroke-linecap="round"/>`;
  });
  return `<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs>${symbols.join("")}
<pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2.4" height="6" class="hatch"/></pattern>
<path id="m-signal" d="M-4.5-6.5H4.5L0 1Z"/><path id="m-kill" d="M-4-6 4 1M4-6-4 1"/><path id="m-reload" d="M0-5 4-1 0 3-4-1Z"/><path id="m-exit" d="M0-7V3"/><circle id="m-not-ready" cx="0" cy="-3" r="2.6"/></defs></svg>`;
}

export function mark(index: number, x: string, y: number): string {
  return `<use href="#k${index}" x="${x}" y="${y}"/>`;
}

/** A kind's mark before its name. */
export function badge(index: number): string {
  return `<svg class="badge" width="14" height="14" viewBox="-6 -6 12 12" aria-hidden="true"><use href="#k${index}"/></svg>`;
}
