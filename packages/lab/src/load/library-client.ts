/**
 * What the clients of other libraries share: how one of their exchanges is told in the terms of the ledger. They pool, repeat and
 * time out by their own rules, which is what is to be seen; so their connections are only watched, never chosen.
 */

import type { Socket } from "node:net";
import type { Stage } from "../ledger/records.ts";
import type { Exchange } from "./exchange.ts";

export interface LibraryClientOptions {
  readonly host: string;
  readonly port: number;
  readonly keepAlive: boolean;
  /** Counted from the intended time. */
  readonly timeoutMs: number;
  readonly now: () => number;
  readonly onEnd: (exchange: Exchange) => void;
}

interface Known {
  readonly id: number;
  readonly bornMs: number;
  carried: number;
}

/** Ids, ages and loads of the connections that a library opens. */
export class Connections {
  readonly #known = new WeakMap<Socket, Known>();
  #last = 0;

  /** A request goes out on it. `bornMs`: when it was asked for, if it is new. */
  carry(socket: Socket, exchange: Exchange, bornMs: number): void {
    const known = this.#known.get(socket) ?? { id: (this.#last += 1), bornMs, carried: 0 };
    this.#known.set(socket, known);
    exchange.connectionId = known.id;
    exchange.reuse = known.carried;
    exchange.ageMs = Math.max(0, exchange.dispatchedMs - known.bornMs);
    known.carried += 1;
  }
}

export function stageOf(exchange: Exchange): Stage {
  if (Number.isNaN(exchange.connectedMs)) {
    return "connect";
  }
  if (exchange.status !== null) {
    return "body";
  }
  return Number.isNaN(exchange.writtenMs) ? "write" : "wait";
}

/** The code of an error of theirs, in the words of the ledger. */
export function codeOf(error: unknown): string {
  const { code, message = "" } = (error ?? {}) as { readonly code?: string; readonly message?: string };
  if (code === "UND_ERR_SOCKET") {
    return /other side closed/.test(message) ? "EOF" : "ECONNRESET";
  }
  if (code?.startsWith("HPE_") === true) {
    return "PARSE";
  }
  return code ?? "UNKNOWN";
}

/** The header of an answer, or null. */
export function headerOf(headers: Readonly<Record<string, unknown>>, name: string): string | null {
  const value = headers[name];
  return typeof value === "string" ? value : null;
}

const SAMPLE_BYTES = 512;

/** Reads an answer as the lab's own client does: its length, and who made it. */
export class AnswerReader {
  readonly #exchange: Exchange;
  #sample = "";
  #json = false;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  head(status: number, headers: Readonly<Record<string, unknown>>): void {
    const exchange = this.#exchange;
    exchange.status = status;
    const length = headerOf(headers, "content-length");
    exchange.promised = length === null ? null : Number(length);
    exchange.copy = headerOf(headers, "x-lastcall-copy");
    exchange.upstream = headerOf(headers, "x-lastcall-upstream");
    this.#json = headerOf(headers, "content-type")?.includes("json") === true;
  }

  body(part: Buffer): void {
    const exchange = this.#exchange;
    exchange.got += part.length;
    if (this.#json && exchange.copy === null && this.#sample.length < SAMPLE_BYTES) {
      this.#sample += part.toString("latin1", 0, SAMPLE_BYTES);
      exchange.copy = /"pid"\s*:\s*(\d+)/.exec(this.#sample)?.[1] ?? null;
    }
  }
}
