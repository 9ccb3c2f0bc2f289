/**
 * Latency over time, drawn as cells: each cell as strong as the number of requests in it. Failures have a layer of their
 * own, in which every one of them lights its cell: none is thinned out.
 */

import { LEVELS, msOf, type Columns } from "../../report/columns.ts";
import type { Window } from "../../report/window.ts";
import { lookOf } from "./kinds.ts";
import { pngUrl, type Colour } from "./png.ts";

const COLUMNS = 1100;
const ROWS = 220;
/** Steps of the ramp from one request in a cell to the fullest cell. */
const RAMP = 24;
/** A middle grey with a touch of blue: it reads on white and on black, and leaves the colours to the failures. */
const DOT: readonly [number, number, number] = [104, 122, 148];
const LEAST_ALPHA = 70;

function cellOf(columns: Columns, index: number, lengthMs: number): number {
  const x = Math.min(COLUMNS - 1, Math.floor((msOf(columns, index) / lengthMs) * COLUMNS));
  const y = ROWS - 1 - Math.floor(((columns.level[index] ?? 0) / LEVELS) * ROWS);
  return y * COLUMNS + x;
}

/** Of the good requests. */
export function densityUrl(columns: Columns, window: Window): string {
  const counts = new Uint32Array(COLUMNS * ROWS);
  const lengthMs = window.toMs - window.fromMs;
  let most = 1;
  for (let index = 0; index < columns.count; index += 1) {
    if (columns.kind[index] === 0) {
      const cell = cellOf(columns, index, lengthMs);
      counts[cell] = (counts[cell] ?? 0) + 1;
      most = Math.max(most, counts[cell]);
    }
  }
  // Logarithmic: the single slow request must be seen beside ten thousand fast ones.
  const whole = Math.log1p(most);
  const pixels = Uint8Array.from(counts, (count) =>
    count === 0 ? 0 : 1 + Math.round((Math.log1p(count) / whole) * (RAMP - 1)),
  );
  const ramp = Array.from({ length: RAMP }, (_, step): Colour => {
    const alpha = LEAST_ALPHA + ((255 - LEAST_ALPHA) * step) / (RAMP - 1);
    return [...DOT, Math.round(alpha)];
  });
  return pngUrl(COLUMNS, ROWS, pixels, [[0, 0, 0, 0], ...ramp]);
}

/** Of the failures, for runs that have more than an SVG should hold marks. Each cell and its neighbours, to be seen. */
export function failuresUrl(columns: Columns, window: Window, kinds: number): string {
  const pixels = new Uint8Array(COLUMNS * ROWS);
  const lengthMs = window.toMs - window.fromMs;
  for (let index = 0; index < columns.count; index += 1) {
    const kind = columns.kind[index] ?? 0;
    if (kind !== 0) {
      const cell = cellOf(columns, index, lengthMs);
      const [x, y] = [cell % COLUMNS, Math.floor(cell / COLUMNS)];
      for (let row = Math.max(0, y - 1); row <= Math.min(ROWS - 1, y + 1); row += 1) {
        pixels.fill(kind, row * COLUMNS + Math.max(0, x - 1), row * COLUMNS + Math.min(COLUMNS, x + 2));
      }
    }
  }
  const colours = Array.from({ length: kinds }, (_, index) => lookOf(index).colour);
  return pngUrl(COLUMNS, ROWS, pixels, [[0, 0, 0, 0], ...colours]);
}
