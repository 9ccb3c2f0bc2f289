/**
 * All requests of a run as columns of numbers, because a million objects would fill the memory. Of every request its three times
 * are kept, 24 bytes; what may be asked for again as a whole record costs 80 more and its id. Texts are kept once.
 */

import type { RequestRecord } from "../ledger/records.ts";
import { float64, int32, type Column } from "./columns.ts";

/** Columns that every row has. */
export const COLUMN: {
  readonly intendedMs: 0;
  readonly dispatchedMs: 1;
  readonly endedMs: 2;
} = { intendedMs: 0, dispatchedMs: 1, endedMs: 2 };

/** What most requests of a run have in common. */
type Shape = Pick<RequestRecord, "method" | "fate" | "status" | "stage" | "error" | "copy" | "template"> &
  Pick<RequestRecord["connection"], "closedFirst">;

/** Each text once, by its number. */
class Texts {
  readonly #texts: string[] = [];
  readonly #index = new Map<string, number>();

  add(text: string): number {
    const known = this.#index.get(text);
    if (known !== undefined) {
      return known;
    }
    this.#index.set(text, this.#texts.length);
    return this.#texts.push(text) - 1;
  }

  at(index: number): string {
    return this.#texts[index] ?? "";
  }
}

/** Stands for the request's own id in its path. A path of the load never holds it. */
const OWN_ID = "\u0000";

/** What few requests have. */
const EXTRAS = ["uploaded", "events", "webSocket", "protocol"] as const;

/** The records that can be had back. */
class WholeRecords {
  readonly #ids: string[] = [];
  readonly #connectedMs: Column = float64();
  readonly #writtenMs: Column = float64();
  readonly #firstByteMs: Column = float64();
  readonly #connection: Column = float64();
  readonly #reuse: Column = float64();
  readonly #ageMs: Column = float64();
  readonly #promised: Column = float64();
  readonly #got: Column = float64();
  readonly #shape: Column = int32();
  readonly #path: Column = int32();
  readonly #upstream: Column = int32();
  readonly #texts = new Texts();
  readonly #extras = new Map<number, Pick<RequestRecord, (typeof EXTRAS)[number]>>();
  readonly #shapes: Shape[] = [];
  readonly #shapeIndex = new Map<string, number>();

  #shapeOf({ method, fate, status, stage, error, copy, connection, template }: RequestRecord): number {
    const { closedFirst } = connection;
    const key = `${method} ${status} ${stage} ${closedFirst} ${fate} ${error ?? "-"}\n${copy === null ? "" : `=${copy}`}${template === undefined ? "" : `\n=${template}`}`;
    const known = this.#shapeIndex.get(key);
    if (known !== undefined) {
      return known;
    }
    this.#shapeIndex.set(key, this.#shapes.length);
    const named = template === undefined ? {} : { template };
    return this.#shapes.push({ method, fate, status, stage, error, copy, closedFirst, ...named }) - 1;
  }

  add(record: RequestRecord): number {
    const { id, path, upstream, connection, bytes } = record;
    this.#connectedMs.push(record.connectedMs ?? Number.NaN);
    this.#writtenMs.push(record.writtenMs ?? Number.NaN);
    this.#firstByteMs.push(record.firstByteMs ?? Number.NaN);
    this.#connection.push(connection.id);
    this.#reuse.push(connection.reuse);
    this.#ageMs.push(connection.ageMs);
    this.#promised.push(bytes.promised ?? Number.NaN);
    this.#got.push(bytes.got);
    this.#shape.push(this.#shapeOf(record));
    // Most paths hold the id: without it they are one text.
    this.#path.push(this.#texts.add(id === "" ? path : path.replaceAll(id, OWN_ID)));
    this.#upstream.push(upstream === null ? -1 : this.#texts.add(upstream));
    const place = this.#ids.push(id) - 1;
    const extras = EXTRAS.flatMap((key) => (record[key] === undefined ? [] : [[key, record[key]] as const]));
    if (extras.length > 0) {
      this.#extras.set(place, Object.fromEntries(extras));
    }
    return place;
  }

  idAt(index: number): string {
    return this.#ids[index] ?? "";
  }

  at(index: number, times: Pick<RequestRecord, "intendedMs" | "dispatchedMs" | "endedMs">): RequestRecord {
    const optional = (column: Column): number | null => {
      const value = column.at(index);
      return Number.isNaN(value) ? null : value;
    };
    const id = this.#ids[index] ?? "";
    const shape = this.#shapes[this.#shape.at(index)];
    const upstream = this.#upstream.at(index);
    return {
      kind: "request",
      id,
      method: shape?.method ?? "",
      path: this.#texts.at(this.#path.at(index)).replaceAll(OWN_ID, id),
      intendedMs: times.intendedMs,
      dispatchedMs: times.dispatchedMs,
      connectedMs: optional(this.#connectedMs),
      writtenMs: optional(this.#writtenMs),
      firstByteMs: optional(this.#firstByteMs),
      endedMs: times.endedMs,
      fate: shape?.fate ?? "failed",
      status: shape?.status ?? null,
      stage: shape?.stage ?? null,
      error: shape?.error ?? null,
      connection: {
        id: this.#connection.at(index),
        reuse: this.#reuse.at(index),
        ageMs: this.#ageMs.at(index),
        closedFirst: shape?.closedFirst ?? null,
      },
      bytes: { promised: optional(this.#promised), got: this.#got.at(index) },
      copy: shape?.copy ?? null,
      upstream: upstream < 0 ? null : this.#texts.at(upstream),
      ...(shape?.template === undefined ? {} : { template: shape.template }),
      ...this.#extras.get(index),
    };
  }
}

export class RequestTable {
  readonly #times: readonly [Column, Column, Column] = [float64(), float64(), float64()];
  /** Place in the whole records; -1: only the times were kept. */
  readonly #place: Column = int32();
  readonly #whole = new WholeRecords();

  get length(): number {
    return this.#place.length;
  }

  /** The row of the record. `whole`: it may be asked for again. */
  add(record: RequestRecord, whole: boolean): number {
    this.#times[0].push(record.intendedMs);
    this.#times[1].push(record.dispatchedMs);
    this.#times[2].push(record.endedMs);
    return this.#place.push(whole ? this.#whole.add(record) : -1);
  }

  value(row: number, column: 0 | 1 | 2): number {
    return this.#times[column].at(row);
  }

  /** One number for each row, in a new array. */
  map(toNumber: (row: number) => number): Float64Array {
    const values = new Float64Array(this.length);
    for (let row = 0; row < values.length; row += 1) {
      values[row] = toNumber(row);
    }
    return values;
  }

  /** The rows of these ids, of those that were added as a whole. */
  rowsOf(ids: ReadonlySet<string>): readonly number[] {
    const rows: number[] = [];
    for (let row = 0; ids.size > 0 && row < this.length; row += 1) {
      const place = this.#place.at(row);
      if (place >= 0 && ids.has(this.#whole.idAt(place))) {
        rows.push(row);
      }
    }
    return rows;
  }

  /** Of a row that was added as a whole. */
  record(row: number): RequestRecord {
    const place = this.#place.at(row);
    if (!(place >= 0)) {
      throw new RangeError(`Row ${row} was not kept as a whole.`);
    }
    return this.#whole.at(place, {
      intendedMs: this.value(row, 0),
      dispatchedMs: this.value(row, 1),
      endedMs: this.value(row, 2),
    });
  }
}
