/** When the turn of each connection comes to be told to go, where they are told one by one and not all at once. */

import type { Host } from "../host.ts";

export class Turns {
  readonly #host: Pick<Host, "now">;
  readonly #turns = new WeakMap<object, number>();
  #startedAt = 0;
  #windowMs = 0;

  constructor(host: Pick<Host, "now">) {
    this.#host = host;
  }

  /** From now on each gets its turn within the window, when it is first asked for. */
  begin(windowMs: number): void {
    this.#startedAt = this.#host.now();
    this.#windowMs = windowMs;
  }

  hasCome(socket: object): boolean {
    const turn = this.#turns.get(socket) ?? this.#startedAt + Math.random() * this.#windowMs;
    this.#turns.set(socket, turn);
    return this.#host.now() >= turn;
  }
}
