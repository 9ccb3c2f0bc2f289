/**
 * undici's pool, the client under Node's fetch and of many programs. It repeats by itself what had not gone out when a
 * connection closed; its connections are seen through its diagnostics channels.
 */

import { subscribe, unsubscribe } from "node:diagnostics_channel";
import type { Socket } from "node:net";
import { Readable } from "node:stream";
import { Pool } from "undici";
import { newExchange, type Exchange } from "./exchange.ts";
import { AnswerReader, codeOf, Connections, stageOf, type LibraryClientOptions } from "./library-client.ts";
import { partsOf, type LibraryClient } from "./node-client.ts";

export function createUndiciClient(options: LibraryClientOptions): LibraryClient {
  const { now, onEnd } = options;
  const origin = `http://${options.host}:${options.port}`;
  // No limit of connections: an open loop never waits for one.
  const limits = { connections: null, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 };
  const pool = new Pool(origin, limits);
  const connections = new Connections();
  const open = new Map<string, Exchange>();
  const seen = (head: string): Exchange | undefined => open.get(/x-request-id: (\S+)/.exec(head)?.[1] ?? "");

  const onHead = (message: unknown): void => {
    const { headers, socket } = message as { readonly headers: string; readonly socket: Socket };
    const exchange = seen(headers);
    if (exchange !== undefined) {
      connections.carry(socket, exchange, exchange.dispatchedMs);
      exchange.connectedMs = exchange.reuse > 0 ? exchange.dispatchedMs : now();
    }
  };
  const onBody = (message: unknown): void => {
    const { headers } = (message as { readonly request: { readonly headers: unknown } }).request;
    const exchange = seen(Array.isArray(headers) ? headers.join(": ") : String(headers));
    if (exchange !== undefined) {
      exchange.writtenMs = now();
    }
  };
  subscribe("undici:client:sendHeaders", onHead);
  subscribe("undici:request:bodySent", onBody);

  return {
    send: (n, intendedMs, planned) => {
      const exchange = newExchange(n, intendedMs, now());
      const reader = new AnswerReader(exchange);
      open.set(planned.id, exchange);
      const end = (code: string | null): void => {
        if (!open.delete(planned.id)) {
          return;
        }
        clearTimeout(timer);
        if (code !== null) {
          exchange.stage = stageOf(exchange);
          exchange.error = code;
        }
        exchange.endedMs = now();
        onEnd(exchange);
      };
      let abort: () => void = () => undefined;
      const timer = setTimeout(
        () => {
          end("TIMEOUT");
          abort();
        },
        Math.max(1, intendedMs + options.timeoutMs - now()),
      );
      const { connection, "transfer-encoding": _, ...headers } = planned.headers;
      pool.dispatch(
        {
          path: planned.path,
          method: planned.method,
          headers,
          body: planned.upload === null ? planned.body : Readable.from(partsOf(planned.upload)),
          reset: connection === "close",
        },
        {
          onRequestStart: (controller) => {
            abort = () => controller.abort(new Error("TIMEOUT"));
          },
          onResponseStart: (_controller, status, answered) => {
            exchange.firstByteMs = now();
            if (Number.isNaN(exchange.writtenMs) && planned.body === null) {
              exchange.writtenMs = exchange.connectedMs;
            }
            reader.head(status, answered);
          },
          onResponseData: (_controller, part) => reader.body(part),
          onResponseEnd: () => end(null),
          onResponseError: (_controller, error) => end(codeOf(error)),
        },
      );
    },
    get open() {
      return open.size;
    },
    close: () => {
      unsubscribe("undici:client:sendHeaders", onHead);
      unsubscribe("undici:request:bodySent", onBody);
      void pool.destroy().catch(() => undefined);
    },
  };
}
