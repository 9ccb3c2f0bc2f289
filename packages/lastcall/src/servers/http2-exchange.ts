/** One HTTP/2 stream in flight, whichever of Node's two APIs the app answers it with. */

import type { IncomingHttpHeaders, ServerHttp2Stream } from "node:http2";
import type { Server } from "node:net";
import type { Host } from "../host.ts";
import { routeOf, ServedExchange } from "./http-exchange.ts";
import type { LeavingSession } from "./http2-session.ts";

export class StreamExchange extends ServedExchange {
  readonly stream: ServerHttp2Stream;
  readonly session: LeavingSession | undefined;
  readonly #headers: IncomingHttpHeaders;

  constructor(
    server: Server,
    stream: ServerHttp2Stream,
    headers: IncomingHttpHeaders,
    session: LeavingSession | undefined,
    startedAt: number,
  ) {
    super(server, startedAt, stream);
    this.stream = stream;
    this.session = session;
    this.#headers = headers;
  }

  route(): string {
    return routeOf(this.#headers[":method"], this.#headers[":path"]);
  }

  /** 503 where nothing was answered yet; a reset otherwise, which no client takes for the end of a whole answer. */
  cut(host: Host): "503" | "reset" | "handler" {
    const { stream } = this;
    if (stream.closed || stream.destroyed || stream.writableFinished) {
      return "handler";
    }
    if (stream.headersSent) {
      // Not `close(code)`: it ends the body first, and the client takes what it got for whole (Node 20 to 26).
      stream.on("error", () => {
        // An app that does not listen for errors must not fail by ours.
      });
      stream.destroy(new Error("The deadline of the shutdown has come."));
      return "reset";
    }
    refuseStream(host, stream, this.#headers);
    return "503";
  }
}

/** RFC 9113, section 7. */
const NO_ERROR = 0;

/** How long the body of a refused stream is read on. */
const UNREAD_MS = 500;

const BODY = '{"error":"draining"}';

/** A clear no: 503 as over HTTP/1.1, and status 14, UNAVAILABLE, to a gRPC client. */
export function refuseStream(host: Host, stream: ServerHttp2Stream, headers: IncomingHttpHeaders): void {
  if (isGrpc(headers)) {
    stream.respond(
      { ":status": 200, "content-type": "application/grpc", "grpc-status": "14", "grpc-message": "draining" },
      { endStream: true },
    );
  } else {
    stream.respond({
      ":status": 503,
      "content-type": "application/json",
      "content-length": BODY.length,
      "retry-after": "1",
    });
    stream.end(headers[":method"] === "HEAD" ? undefined : BODY);
  }
  // What the client is still sending is read for a while, then it is told to stop (RFC 9113, section 8.1). Not at once:
  // nghttp2 drops the answer that it has not sent yet.
  stream.resume();
  const stop = host.setTimer(UNREAD_MS, () => stream.close(NO_ERROR));
  stream.once("close", stop);
}

function isGrpc(headers: IncomingHttpHeaders): boolean {
  return headers["content-type"]?.startsWith("application/grpc") === true;
}
