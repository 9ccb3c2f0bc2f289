/** One WebSocket from its opening to its fate: it talks until it leaves, is told to go, or is cut. */

import type { ClientRequest } from "node:http";
import type { Duplex } from "node:stream";
import type { Stage } from "../ledger/records.ts";
import type { Exchange } from "./exchange.ts";
import { codeOf, stageOf, type LibraryClientOptions } from "./library-client.ts";
import type { WebSocketTalk } from "./load.ts";
import type { StructuredRequest } from "./mix.ts";
import { BINARY, clientFrame, CLOSE, closeCode, FrameReader, PING, PONG, TEXT } from "./web-socket-frames.ts";
import { WebSocketMessages } from "./web-socket-messages.ts";
import { openWebSocket } from "./web-socket-opening.ts";

export interface VisitEvents {
  /** Its exchange is complete. */
  fate(): void;
  /** The service has ended it in good order; it wanted to stay until then. */
  dismissed(leaveAtMs: number): void;
  /** It has its fate, and its connection is gone. */
  gone(): void;
}

/**
 * Close codes by which a service says that it leaves in good order: normal, going away, none, service restart, try again later
 * (RFC 6455, section 7.4.1, and the registry of IANA).
 */
const GOOD_ORDER: ReadonlySet<number> = new Set([1000, 1001, 1005, 1012, 1013]);
const NORMAL = Buffer.from([0x03, 0xe8]);
/** For the service's close frame and the end of the connection, after our own. */
const GOODBYE_MS = 5000;

/** Shaking hands, talking, sending no more, our close frame is out, its fate is known. */
type Phase = "opening" | "talking" | "leaving" | "goodbye" | "over";

export class WebSocketVisit {
  readonly #options: LibraryClientOptions;
  readonly #exchange: Exchange;
  readonly #talk: WebSocketTalk;
  readonly #events: VisitEvents;
  readonly #messages: WebSocketMessages;
  readonly #frames = new FrameReader();
  readonly #opening: ClientRequest;
  #tunnel: Duplex | null = null;
  #phase: Phase = "opening";
  #leaveAtMs: number;
  /** The end of the phase. */
  #timer: NodeJS.Timeout | undefined;
  #talking: NodeJS.Timeout | undefined;

  /** `leaveAtMs`: null is after the time that it may talk for. */
  constructor(
    options: LibraryClientOptions,
    planned: StructuredRequest,
    exchange: Exchange,
    leaveAtMs: number | null,
    events: VisitEvents,
  ) {
    if (planned.webSocket === null) {
      throw new RangeError(`Request ${planned.id} is no WebSocket.`);
    }
    this.#options = options;
    this.#exchange = exchange;
    this.#talk = planned.webSocket;
    this.#events = events;
    this.#messages = new WebSocketMessages(planned.id, this.#talk);
    exchange.webSocket = this.#messages.told;
    this.#leaveAtMs = leaveAtMs ?? exchange.dispatchedMs + this.#talk.forMs;
    this.#enter("opening", exchange.intendedMs + options.timeoutMs - exchange.dispatchedMs, () =>
      this.#fail("TIMEOUT"),
    );
    this.#opening = openWebSocket(options, planned, exchange, {
      stands: (socket, first) => this.#stands(socket, first),
      fails: (code, stage) => this.#over(code, stage),
    });
  }

  /** It says no more, waits for the answers that it is owed, and says goodbye. */
  leave(): void {
    this.#leaveAtMs = Math.min(this.#leaveAtMs, this.#options.now());
    if (this.#phase !== "talking") {
      return; // An opening has a deadline of its own: it leaves when it stands.
    }
    clearInterval(this.#talking);
    this.#enter("leaving", this.#options.timeoutMs, () => this.#fail("UNANSWERED"));
    this.#leaveIfAnswered();
  }

  /** At once, and without a fate if it has none. */
  end(): void {
    this.#phase = "over";
    clearTimeout(this.#timer);
    clearInterval(this.#talking);
    this.#opening.destroy();
    this.#tunnel?.destroy();
  }

  #enter(phase: Phase, forMs: number, then: () => void): void {
    this.#phase = phase;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(then, Math.max(1, forMs));
  }

  #stands(socket: Duplex, first: Buffer): void {
    this.#tunnel = socket;
    socket.on("data", (bytes: Buffer) => this.#read(bytes));
    socket.once("end", () => this.#cut("EOF"));
    socket.on("error", (error) => this.#cut(codeOf(error)));
    socket.once("close", () => {
      this.#cut("EOF");
      this.#events.gone();
    });
    this.#enter("talking", this.#leaveAtMs - this.#options.now(), () => this.leave());
    this.#say();
    this.#talking = setInterval(() => this.#say(), this.#talk.everyMs);
    if (first.length > 0) {
      this.#read(first);
    }
  }

  #say(): void {
    this.#tunnel?.write(this.#messages.next());
  }

  #read(bytes: Buffer): void {
    for (const { opcode, payload } of this.#frames.push(bytes)) {
      if (this.#phase === "over") {
        return;
      }
      if (opcode === TEXT || opcode === BINARY) {
        this.#exchange.got += payload.length;
        this.#messages.answer(payload);
        this.#leaveIfAnswered();
      } else if (opcode === PING) {
        this.#tunnel?.write(clientFrame(PONG, payload));
      } else if (opcode === PONG) {
        this.#messages.pong(payload);
      } else if (opcode === CLOSE) {
        this.#closeFrame(payload);
      }
    }
    if (this.#frames.broken && this.#phase !== "over") {
      this.#fail("PARSE");
    }
  }

  #leaveIfAnswered(): void {
    if (this.#phase !== "leaving" || !this.#messages.allAnswered) {
      return;
    }
    this.#exchange.closedFirst = "client";
    this.#tunnel?.write(clientFrame(CLOSE, NORMAL));
    // Nothing was lost: who does not answer a goodbye is only impolite.
    this.#enter("goodbye", GOODBYE_MS, () => {
      this.#over(null);
      this.#tunnel?.destroy();
    });
  }

  #closeFrame(payload: Buffer): void {
    if (this.#phase === "goodbye") {
      this.#over(null);
      this.#tunnel?.end();
      return;
    }
    this.#exchange.closedFirst = "server";
    const code = closeCode(payload);
    const lost = this.#messages.dismissed(code);
    const goodOrder = GOOD_ORDER.has(code);
    this.#over(!goodOrder ? `CLOSE_${code}` : lost > 0 ? "UNANSWERED" : null);
    this.#tunnel?.end(clientFrame(CLOSE, payload.subarray(0, 2)));
    if (goodOrder) {
      this.#events.dismissed(this.#leaveAtMs);
    }
  }

  #cut(code: string): void {
    // After our own goodbye an end without one is impolite, and no loss.
    this.#over(this.#phase === "goodbye" ? null : code);
    this.#tunnel?.destroy();
  }

  #fail(code: string): void {
    this.#over(code);
    this.#opening.destroy();
    this.#tunnel?.destroy();
  }

  #over(code: string | null, stage: Stage = stageOf(this.#exchange)): void {
    if (this.#phase === "over") {
      return;
    }
    this.#phase = "over";
    clearTimeout(this.#timer);
    clearInterval(this.#talking);
    const exchange = this.#exchange;
    if (code !== null) {
      exchange.stage = stage;
      exchange.error = code;
      exchange.closedFirst ??= code === "EOF" || code === "ECONNRESET" || code === "EPIPE" ? "server" : null;
    }
    exchange.endedMs = this.#options.now();
    this.#events.fate();
    if (this.#tunnel === null) {
      this.#events.gone();
    }
  }
}
