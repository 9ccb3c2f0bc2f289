/**
 * The clients of WebSockets: each opens one, sends numbered messages, wants an answer to each, and leaves with a close frame after
 * its time. One that the service ends in good order comes back, as a real client would; every opening is an exchange of its own.
 */

import { request, type IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import type { Stage } from "../ledger/records.ts";
import { newExchange } from "./exchange.ts";
import { AnswerReader, codeOf, stageOf, type LibraryClientOptions } from "./library-client.ts";
import type { StructuredRequest } from "./mix.ts";
import {
  BINARY,
  clientFrame,
  CLOSE,
  closeCode,
  FrameReader,
  handshake,
  PING,
  PONG,
  TEXT,
  type Message,
} from "./web-socket-frames.ts";

export interface WebSocketClient {
  /** `planned`: the n-th request, come back for so many times. */
  send(n: number, intendedMs: number, planned: (again: number) => StructuredRequest): void;
  /** Those without a fate. */
  readonly open: number;
  /** The load is over: whoever is there leaves, and nobody comes back. */
  stop(): void;
  /** Ends at once; those that are open get no fate. */
  close(): void;
}

/**
 * Close codes by which a service says that it leaves in good order: normal, going away, none, service restart, try again later
 * (RFC 6455, section 7.4.1, and the registry of IANA).
 */
const GOOD_ORDER: ReadonlySet<number> = new Set([1000, 1001, 1005, 1012, 1013]);
const NORMAL = Buffer.from([0x03, 0xe8]);
/** Long enough that a service which closes at once is not asked without a pause. */
const COME_BACK_MS = 250;
/** For the service's close frame and the end of the connection, after our own. */
const GOODBYE_MS = 5000;

/** A message without an answer. */
interface Waiting {
  readonly number: number;
  readonly text: string;
}

export function createWebSocketClient(options: LibraryClientOptions): WebSocketClient {
  const { host, port, now, onEnd } = options;
  const leavers = new Set<() => void>();
  const enders = new Set<() => void>();
  let open = 0;
  let lastId = 0;
  let stopping = false;
  let closed = false;

  function visit(
    n: number,
    intendedMs: number,
    planned: (again: number) => StructuredRequest,
    again: number,
    untilMs: number | null,
  ): void {
    const { id, path, headers, webSocket: talk } = planned(again);
    if (talk === null) {
      throw new RangeError(`Request ${id} is no WebSocket.`);
    }
    const exchange = newExchange(n, intendedMs, now());
    const leaveAtMs = untilMs ?? exchange.dispatchedMs + talk.forMs;
    const reader = new AnswerReader(exchange);
    const frames = new FrameReader();
    const { headers: asking, accept } = handshake();
    const waiting: Waiting[] = [];
    const told = { sent: 0, answered: 0, crossed: 0, closeCode: null as number | null };
    /**
     * Behind each message goes a ping with its number. A pong comes from who has read all that was sent before its ping (RFC 6455,
     * section 5.5.3): so it is known which messages the service had in its hands, however long the way is and the machine takes.
     */
    let lastRead = 0;
    let tunnel: Duplex | null = null;
    /** Talking, sending no more, our close frame is out, or its fate is known. */
    let phase: "talking" | "leaving" | "goodbye" | "over" = "talking";
    open += 1;
    exchange.again = again;
    exchange.webSocket = told;
    exchange.connectionId = lastId += 1;

    const over = (code: string | null, stage?: Stage): void => {
      if (phase === "over" || closed) {
        return;
      }
      phase = "over";
      clearTimeout(timer);
      clearInterval(talking);
      leavers.delete(leave);
      if (code !== null) {
        exchange.stage = stage ?? stageOf(exchange);
        exchange.error = code;
        exchange.closedFirst ??=
          code === "EOF" || code === "ECONNRESET" || code === "EPIPE" ? "server" : null;
      }
      exchange.endedMs = now();
      open -= 1;
      onEnd(exchange);
    };
    const fail = (code: string): void => {
      over(code);
      sent.destroy();
      tunnel?.destroy();
    };
    const say = (): void => {
      told.sent += 1;
      const text = talk.message.replaceAll("{id}", id).replaceAll("{n}", String(told.sent));
      waiting.push({ number: told.sent, text });
      tunnel?.write(
        Buffer.concat([
          clientFrame(TEXT, Buffer.from(text)),
          clientFrame(PING, Buffer.from(String(told.sent))),
        ]),
      );
    };
    const goodbye = (): void => {
      phase = "goodbye";
      exchange.closedFirst = "client";
      tunnel?.write(clientFrame(CLOSE, NORMAL));
      clearTimeout(timer);
      // Nothing was lost: who does not answer a goodbye is only impolite.
      timer = setTimeout(() => {
        over(null);
        tunnel?.destroy();
      }, GOODBYE_MS);
    };
    const leave = (): void => {
      if (phase !== "talking" || tunnel === null) {
        return; // Its handshake has a deadline of its own; it leaves when that is over.
      }
      phase = "leaving";
      clearInterval(talking);
      clearTimeout(timer);
      if (waiting.length === 0) {
        goodbye();
      } else {
        timer = setTimeout(() => fail("UNANSWERED"), options.timeoutMs);
      }
    };
    const answered = ({ payload }: Message): void => {
      exchange.got += payload.length;
      const text = talk.answer === "any" ? null : payload.toString("utf8");
      const at = text === null ? 0 : waiting.findIndex((one) => text.includes(one.text));
      if (at >= 0 && waiting.length > 0) {
        waiting.splice(at, 1);
        told.answered += 1;
      }
      if (phase === "leaving" && waiting.length === 0) {
        goodbye();
      }
    };
    const dismissed = (frame: Message): void => {
      if (phase === "goodbye") {
        over(null);
        tunnel?.end();
        return;
      }
      told.closeCode = closeCode(frame);
      exchange.closedFirst = "server";
      told.crossed = waiting.filter(({ number }) => number > lastRead).length;
      const goodOrder = GOOD_ORDER.has(told.closeCode);
      over(!goodOrder ? `CLOSE_${told.closeCode}` : waiting.length > told.crossed ? "UNANSWERED" : null);
      tunnel?.end(clientFrame(CLOSE, frame.payload.subarray(0, 2)));
      if (goodOrder && !stopping && leaveAtMs - now() > COME_BACK_MS + talk.everyMs) {
        comeBack(n, planned, again + 1, leaveAtMs);
      }
    };
    const read = (bytes: Buffer): void => {
      for (const message of frames.push(bytes)) {
        if (phase === "over") {
          return;
        }
        if (message.opcode === TEXT || message.opcode === BINARY) {
          answered(message);
        } else if (message.opcode === PING) {
          tunnel?.write(clientFrame(PONG, message.payload));
        } else if (message.opcode === PONG) {
          lastRead = Math.max(lastRead, Number(message.payload.toString("latin1")) || 0);
        } else if (message.opcode === CLOSE) {
          dismissed(message);
        }
      }
      if (frames.broken && phase !== "over") {
        fail("PARSE");
      }
    };
    const gone = (code: string): void => {
      // After our own goodbye an end without one is impolite, and no loss.
      over(phase === "goodbye" ? null : code);
      tunnel?.destroy();
    };
    const opened = (answer: IncomingMessage, socket: Duplex, head: Buffer): void => {
      exchange.firstByteMs = now();
      if (answer.headers["sec-websocket-accept"] !== accept) {
        socket.destroy();
        fail("PARSE");
        return;
      }
      tunnel = socket;
      reader.head(answer.statusCode ?? 101, answer.headers);
      socket.on("data", read);
      socket.once("end", () => gone("EOF"));
      socket.on("error", (error) => gone(codeOf(error)));
      socket.once("close", () => gone("EOF"));
      enders.add(end);
      socket.once("close", () => enders.delete(end));
      clearTimeout(timer);
      timer = setTimeout(leave, Math.max(1, leaveAtMs - now()));
      say();
      talking = setInterval(say, talk.everyMs);
      if (head.length > 0) {
        read(head);
      }
      if (stopping) {
        leave();
      }
    };
    const end = (): void => {
      clearTimeout(timer);
      clearInterval(talking);
      sent.destroy();
      tunnel?.destroy();
    };

    let talking: NodeJS.Timeout | undefined;
    const { connection: _, ...plain } = headers;
    const sent = request({ host, port, path, agent: false, headers: { ...plain, ...asking } });
    let timer = setTimeout(
      () => fail("TIMEOUT"),
      Math.max(1, intendedMs + options.timeoutMs - exchange.dispatchedMs),
    );
    leavers.add(leave);
    enders.add(end);
    sent.once("socket", (socket) => socket.once("connect", () => (exchange.connectedMs = now())));
    sent.once("finish", () => (exchange.writtenMs = now()));
    sent.on("error", (error) => over(codeOf(error)));
    sent.once("close", () => {
      if (tunnel === null) {
        enders.delete(end);
      }
    });
    sent.once("upgrade", opened);
    sent.once("response", (answer) => {
      exchange.firstByteMs = now();
      reader.head(answer.statusCode ?? 0, answer.headers);
      answer.on("data", (part: Buffer) => reader.body(part));
      answer.once("error", (error) => over(codeOf(error)));
      answer.once("close", () => {
        if (answer.complete && (exchange.status ?? 0) < 400) {
          over("NO_UPGRADE", "wait");
        } else {
          over(answer.complete ? null : "EOF");
        }
      });
    });
    sent.end();
  }

  function comeBack(
    n: number,
    planned: (again: number) => StructuredRequest,
    again: number,
    untilMs: number,
  ): void {
    open += 1; // It has no fate yet, and the load is not over without it.
    const waits = setTimeout(() => {
      forget();
      visit(n, now(), planned, again, untilMs);
    }, COME_BACK_MS);
    const forget = (): void => {
      clearTimeout(waits);
      open -= 1;
      leavers.delete(forget);
      enders.delete(forget);
    };
    leavers.add(forget);
    enders.add(forget);
  }

  return {
    send: (n, intendedMs, planned) => visit(n, intendedMs, planned, 0, null),
    get open() {
      return open;
    },
    stop: () => {
      stopping = true;
      for (const leave of leavers) {
        leave();
      }
    },
    close: () => {
      closed = true;
      for (const end of enders) {
        end();
      }
    },
  };
}
