/**
 * Who is in: the decision to run or refuse a request, and the count of those that run. The decision and the registration
 * are one synchronous step, so that no request is both refused and run and none runs uncounted. Knows no sockets.
 */

import { InFlight, type Linked } from "./in-flight.ts";

/** One admitted request. Kept small: there is one per request in flight. */
export interface Exchange extends Linked<Exchange> {
  readonly startedAt: number;
  /** `GET /work`: asked for only when somebody wants to read it. */
  route(): string;
  /** How many things must still end: its response, and its handler where the boundary says so. */
  open: number;
  clientGone: boolean;
}

/** What the next request meets. `linger`: served, and its connection is told to go. */
export type Gate = "open" | "linger" | "closed";

/** How a refusal reached the client. `dropped`: the server's own limit on connections. */
export type Refusal = "503" | "408" | "400" | "dropped";

export interface RequestCounts {
  readonly accepted: number;
  readonly completed: number;
  /** Part of completed: the client left before its response was out. */
  readonly clientGone: number;
  readonly unfinished: number;
  readonly refused: Readonly<Record<Refusal, number>>;
}

/** At every instant accepted = completed + in flight; once `fix` was called, the rest is unfinished for good. */
export class Admission {
  readonly inFlight: InFlight<Exchange> = new InFlight();
  gate: Gate = "open";
  #accepted = 0;
  #completed = 0;
  #clientGone = 0;
  #unfinished: number | null = null;
  readonly #refused: Record<Refusal, number> = { "503": 0, "408": 0, "400": 0, dropped: 0 };
  readonly #onEnd: () => void;

  /** `onEnd` is called when an exchange has ended. */
  constructor(onEnd: () => void) {
    this.#onEnd = onEnd;
  }

  /** Whether the next request is run. */
  admits(): boolean {
    return this.gate !== "closed";
  }

  begin(exchange: Exchange): void {
    this.#accepted += 1;
    this.inFlight.add(exchange);
  }

  /** One of the things that the exchange waited for has ended. */
  settle(exchange: Exchange): void {
    exchange.open -= 1;
    if (exchange.open === 0 && this.inFlight.delete(exchange)) {
      if (this.#unfinished === null) {
        this.#completed += 1;
        this.#clientGone += exchange.clientGone ? 1 : 0;
      }
      this.#onEnd();
    }
  }

  /** It was no work after all: a probe. */
  forget(exchange: Exchange): void {
    if (this.inFlight.delete(exchange)) {
      this.#accepted -= 1;
      this.#onEnd();
    }
  }

  refuse(how: Refusal): void {
    this.#refused[how] += 1;
  }

  /** From now on what is in flight counts as unfinished, whatever becomes of it. */
  fix(): void {
    this.#unfinished ??= this.inFlight.size;
  }

  counts(): RequestCounts {
    return {
      accepted: this.#accepted,
      completed: this.#completed,
      clientGone: this.#clientGone,
      unfinished: this.#unfinished ?? this.inFlight.size,
      refused: { ...this.#refused },
    };
  }
}
