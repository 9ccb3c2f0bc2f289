/**
 * HTTP/2 without TLS, by prior knowledge, on Node's own client: a few sessions that carry many streams each. A session that was told
 * to go (GOAWAY) gets no new one. It repeats nothing: a stream that was refused and may be sent again is told as such.
 */

import { constants, type ClientHttp2Stream } from "node:http2";
import { EventCounter } from "./event-counter.ts";
import { newExchange, type Exchange } from "./exchange.ts";
import { codeFor, createSessions, type Session } from "./http2-sessions.ts";
import { AnswerReader, stageOf, type LibraryClientOptions } from "./library-client.ts";
import type { StructuredRequest } from "./mix.ts";
import { feed, type LibraryClient } from "./node-client.ts";

/** For why a stream has ended without an answer. */
const GOAWAY_FOLLOWS_MS = 30;

/** Headers that HTTP/2 has no place for. */
const OF_HTTP1: ReadonlySet<string> = new Set(["connection", "transfer-encoding"]);

export function createHttp2Client(options: LibraryClientOptions): LibraryClient {
  const { now, onEnd } = options;
  const sessions = createSessions(options);
  let open = 0;
  let closed = false;

  function ask(session: Session, planned: StructuredRequest, endStream: boolean): ClientHttp2Stream {
    const plain = Object.entries(planned.headers).filter(([name]) => !OF_HTTP1.has(name));
    const length =
      planned.body === null || planned.upload !== null
        ? {}
        : { "content-length": Buffer.byteLength(planned.body) };
    return session.http2.request(
      { ":method": planned.method, ":path": planned.path, ...Object.fromEntries(plain), ...length },
      { endStream },
    );
  }

  function begin(planned: StructuredRequest): readonly [Session, ClientHttp2Stream] {
    const endStream = planned.upload === null && planned.body === null;
    const session = sessions.next(planned.fresh);
    try {
      return [session, ask(session, planned, endStream)];
    } catch {
      // It was told to go a moment ago, and nothing has been sent: that is what a new session is for.
      sessions.retire(session);
      const other = sessions.next(planned.fresh);
      return [other, ask(other, planned, endStream)];
    }
  }

  function follow(exchange: Exchange, planned: StructuredRequest): void {
    const [session, stream] = begin(planned);
    const reader = new AnswerReader(exchange);
    const counter = planned.eventsForMs === null ? null : new EventCounter();
    let whole = false;
    let over = false;
    let failure: Error | null = null;
    exchange.connectionId = session.id;
    exchange.reuse = session.carried;
    exchange.ageMs = Math.max(0, exchange.dispatchedMs - session.bornMs);
    session.carried += 1;
    open += 1;

    const end = (code: string | null, closedFirst: Exchange["closedFirst"], atMs = now()): void => {
      if (over || closed) {
        return;
      }
      over = true;
      open -= 1;
      clearTimeout(late);
      clearTimeout(leaving);
      // A session that was being made when the request was sent.
      exchange.connectedMs = Math.max(session.connectedMs, exchange.dispatchedMs);
      // Node counts a request as written when it is in its own queue.
      exchange.writtenMs = Math.max(exchange.writtenMs, exchange.connectedMs);
      if (counter !== null) {
        exchange.events = counter.events;
      }
      if (code !== null) {
        exchange.stage = stageOf(exchange);
        exchange.error = code;
      }
      exchange.closedFirst = closedFirst;
      exchange.endedMs = atMs;
      onEnd(exchange);
      if (planned.fresh || !options.keepAlive) {
        session.http2.close();
      }
    };
    const late = setTimeout(
      () => {
        if (counter === null || exchange.status === null) {
          end("TIMEOUT", "client");
          stream.close(constants.NGHTTP2_CANCEL);
        }
      },
      Math.max(1, exchange.intendedMs + options.timeoutMs - now()),
    );
    const leaving =
      planned.eventsForMs === null
        ? undefined
        : setTimeout(() => {
            end(
              counter !== null && counter.gaps > 0 ? "GAP" : exchange.status === null ? "TIMEOUT" : null,
              "client",
            );
            stream.close(constants.NGHTTP2_CANCEL);
          }, planned.eventsForMs);

    stream.once("finish", () => (exchange.writtenMs = now()));
    stream.once("response", (headers) => {
      exchange.firstByteMs = now();
      reader.head(headers[":status"] ?? 0, headers);
    });
    stream.on("data", (part: Buffer) => {
      reader.body(part);
      counter?.push(part, 0, part.length);
    });
    stream.once("end", () => (whole = true));
    stream.once("error", (error) => (failure = error));
    stream.once("close", () => {
      const short = exchange.promised !== null && exchange.got < exchange.promised;
      const good =
        whole &&
        !short &&
        exchange.status !== null &&
        !stream.aborted &&
        (stream.rstCode ?? 0) === constants.NGHTTP2_NO_ERROR;
      if (good) {
        end(counter !== null && counter.gaps > 0 ? "GAP" : null, null);
      } else {
        // Their GOAWAY comes after the resets of a session's streams, be it in the same read.
        const atMs = now();
        setTimeout(() => {
          const code = codeFor(session, stream, failure);
          end(code, code === "ECONNREFUSED" ? null : "server", atMs);
        }, GOAWAY_FOLLOWS_MS);
      }
    });
    if (planned.upload !== null) {
      void feed(stream, planned.upload);
    } else if (planned.body !== null) {
      stream.end(planned.body);
    }
  }

  return {
    send: (n, intendedMs, planned) => follow(newExchange(n, intendedMs, now()), planned),
    get open() {
      return open;
    },
    close: () => {
      closed = true;
      sessions.destroy();
    },
  };
}
