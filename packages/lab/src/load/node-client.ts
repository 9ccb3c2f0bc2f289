/** Node's own client, `node:http` with its agent, as programs use it. It repeats nothing by itself. */

import { Agent, request } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { newExchange } from "./exchange.ts";
import type { HttpClient } from "./http-client.ts";
import { AnswerReader, codeOf, Connections, stageOf, type LibraryClientOptions } from "./library-client.ts";
import type { StructuredRequest } from "./mix.ts";
import type { PreparedUpload } from "./upload.ts";

export interface LibraryClient extends Pick<HttpClient, "open" | "close"> {
  send(n: number, intendedMs: number, planned: StructuredRequest): void;
}

/** The parts of a body, each at its time. */
export async function* partsOf({ body, pieces, everyMs }: PreparedUpload): AsyncGenerator<Buffer> {
  const size = everyMs === 0 ? body.length : Math.max(1, pieces[0]?.length ?? body.length);
  for (let at = 0; at < body.length; at += size) {
    if (at > 0) {
      await sleep(everyMs);
    }
    yield body.subarray(at, at + size);
  }
}

export function createNodeClient(options: LibraryClientOptions): LibraryClient {
  const { host, port, now, onEnd } = options;
  const agent = new Agent({ keepAlive: options.keepAlive, scheduling: "lifo" });
  const connections = new Connections();
  let open = 0;
  let closed = false;
  return {
    send: (n, intendedMs, planned) => {
      const exchange = newExchange(n, intendedMs, now());
      const reader = new AnswerReader(exchange);
      let over = false;
      open += 1;
      const end = (code: string | null): void => {
        if (over || closed) {
          return;
        }
        over = true;
        open -= 1;
        clearTimeout(timer);
        if (code !== null) {
          exchange.stage = stageOf(exchange);
          exchange.error = code;
        }
        exchange.endedMs = now();
        onEnd(exchange);
      };
      const sent = request({
        host,
        port,
        method: planned.method,
        path: planned.path,
        headers: {
          ...planned.headers,
          ...(planned.body === null || planned.upload !== null
            ? {}
            : { "content-length": Buffer.byteLength(planned.body) }),
        },
        agent: planned.fresh ? false : agent,
      });
      const timer = setTimeout(
        () => {
          end("TIMEOUT");
          sent.destroy();
        },
        Math.max(1, intendedMs + options.timeoutMs - now()),
      );
      sent.once("socket", (socket) => {
        connections.carry(socket, exchange, exchange.dispatchedMs);
        if (socket.connecting) {
          socket.once("connect", () => (exchange.connectedMs = now()));
        } else {
          exchange.connectedMs = exchange.dispatchedMs;
        }
      });
      sent.once("finish", () => (exchange.writtenMs = now()));
      sent.once("error", (error) => end(codeOf(error)));
      sent.once("response", (answer) => {
        exchange.firstByteMs = now();
        reader.head(answer.statusCode ?? 0, answer.headers);
        answer.on("data", (part: Buffer) => reader.body(part));
        answer.once("error", (error) => end(codeOf(error)));
        answer.once("close", () => end(answer.complete ? null : "EOF"));
      });
      if (planned.upload === null) {
        sent.end(planned.body ?? undefined);
      } else {
        void feed(sent, planned.upload);
      }
    },
    get open() {
      return open;
    },
    close: () => {
      closed = true;
      agent.destroy();
    },
  };
}

/** Its failure is that of the request, which tells it itself. */
export async function feed(
  sent: { write(part: Buffer): boolean; end(): void; readonly destroyed: boolean },
  upload: PreparedUpload,
): Promise<void> {
  for await (const part of partsOf(upload)) {
    if (sent.destroyed) {
      return;
    }
    sent.write(part);
  }
  sent.end();
}
