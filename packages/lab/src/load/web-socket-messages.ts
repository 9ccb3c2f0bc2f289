/** The messages of one WebSocket: what was said on it, what of that was answered, and what the service had read when it left. */

import type { WebSocketTold } from "../ledger/records.ts";
import type { WebSocketTalk } from "./load.ts";
import { clientFrame, PING, TEXT } from "./web-socket-frames.ts";

/** A message without an answer. */
interface Waiting {
  readonly number: number;
  readonly text: string;
}

export class WebSocketMessages {
  readonly #id: string;
  readonly #talk: WebSocketTalk;
  readonly #waiting: Waiting[] = [];
  readonly #told = { sent: 0, answered: 0, crossed: 0, closeCode: null as number | null };
  #lastRead = 0;

  constructor(id: string, talk: WebSocketTalk) {
    this.#id = id;
    this.#talk = talk;
  }

  /** So far: it goes on changing. */
  get told(): WebSocketTold {
    return this.#told;
  }

  get allAnswered(): boolean {
    return this.#waiting.length === 0;
  }

  /**
   * The bytes of the next message. Behind it goes a ping with its number. A pong comes from who has read all that was sent before
   * its ping (RFC 6455, section 5.5.3): so it is known which messages the service had in its hands, however long the way is and
   * the machine takes.
   */
  next(): Buffer {
    const number = (this.#told.sent += 1);
    const text = this.#talk.message.replaceAll("{id}", this.#id).replaceAll("{n}", String(number));
    this.#waiting.push({ number, text });
    return Buffer.concat([
      clientFrame(TEXT, Buffer.from(text)),
      clientFrame(PING, Buffer.from(String(number))),
    ]);
  }

  /** A message of the service. */
  answer(payload: Buffer): void {
    const text = this.#talk.answer === "any" ? null : payload.toString("utf8");
    const at = text === null ? 0 : this.#waiting.findIndex((one) => text.includes(one.text));
    if (at >= 0 && !this.allAnswered) {
      this.#waiting.splice(at, 1);
      this.#told.answered += 1;
    }
  }

  pong(payload: Buffer): void {
    this.#lastRead = Math.max(this.#lastRead, Number(payload.toString("latin1")) || 0);
  }

  /** The service's close frame has come. Returns how many messages it had read and has not answered. */
  dismissed(closeCode: number): number {
    this.#told.closeCode = closeCode;
    this.#told.crossed = this.#waiting.filter(({ number }) => number > this.#lastRead).length;
    return this.#waiting.length - this.#told.crossed;
  }
}
