/**
 * The embedded router's proxy: HTTP/1.1 on node:http, round robin, with nginx's rule for retries. It does what nginx does
 * with the same settings, and no more: no active checks, no passive marks.
 */

import {
  createServer,
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  type ServerResponse,
} from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { classOf, told, UpstreamTimeout, type Attempt } from "./attempt.ts";
import type { LogClass } from "./log-class.ts";
import { createRoundRobin } from "./round-robin.ts";
import type { Upstream } from "./router.ts";
import { createTunnels } from "./upgrade.ts";
import { address, UpstreamPool } from "./upstream-pool.ts";

export interface ProxyOptions {
  readonly port: number;
  readonly retries: boolean;
  /** A POST that was sent too. */
  readonly retryPosts?: boolean;
  readonly upstreamKeepAlive: boolean;
  readonly clientKeepAlive: boolean;
  readonly connectTimeoutMs: number;
  readonly readTimeoutMs: number;
  /** Upgrades are passed on; otherwise they are requests like others, as without a word of nginx's. */
  readonly webSockets?: boolean;
}

export interface ProxyFailure {
  readonly class: LogClass;
  readonly text: string;
}

export interface Proxy {
  readonly port: number;
  /** At once: the next request follows it; those in flight finish where they are. */
  set(upstreams: readonly Upstream[]): void;
  close(): void;
}

/** As nginx's `keepalive_timeout` for clients. */
const CLIENT_IDLE_MS = 75_000;
const BODY_LIMIT_BYTES = 10 * 1024 * 1024;
/** What nginx passes to another upstream even when it has been sent. */
const IDEMPOTENT = new Set(["GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"]);
const HOP_BY_HOP = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function endToEnd(headers: IncomingHttpHeaders): OutgoingHttpHeaders {
  const kept: OutgoingHttpHeaders = {};
  for (const name in headers) {
    if (!HOP_BY_HOP.has(name)) {
      kept[name] = headers[name];
    }
  }
  return kept;
}

const NO_BODY: Buffer = Buffer.alloc(0);

function hasBody({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] !== undefined || (headers["content-length"] ?? "0") !== "0";
}

export async function startProxy(
  options: ProxyOptions,
  upstreams: readonly Upstream[],
  onFailure: (failure: ProxyFailure) => void,
): Promise<Proxy> {
  let current = upstreams;
  const inTurn = createRoundRobin();
  const pool = options.upstreamKeepAlive
    ? new UpstreamPool((key) => current.some((one) => address(one) === key))
    : null;
  const server = createServer({ keepAliveTimeout: CLIENT_IDLE_MS, requestTimeout: 0 }, (from, to) => {
    if (!hasBody(from)) {
      forward(from, to, NO_BODY);
      return;
    }
    void collectBody(from).then(
      (body) => (body === null ? answerItself(to, 413, []) : forward(from, to, body)),
      () => undefined, // The client left while it was sending: nobody waits for an answer.
    );
  });

  const tunnels = createTunnels(options, onFailure);
  if (options.webSockets === true) {
    server.on("upgrade", (from, client, head) =>
      tunnels.open(from, client as Socket, head, inTurn(current), endToEnd(from.headers)),
    );
  }

  function answerItself(to: ServerResponse, status: number, tried: readonly Attempt[]): void {
    if (to.destroyed || to.headersSent) {
      return;
    }
    const text = `{"error":"router","status":${status}}`;
    to.writeHead(status, {
      "content-type": "application/json",
      "content-length": text.length,
      ...(tried.length === 0 ? {} : { "x-lastcall-upstream": told(tried) }),
      ...(options.clientKeepAlive ? {} : { connection: "close" }),
    });
    to.end(text);
  }

  function forward(from: IncomingMessage, to: ServerResponse, body: Buffer): void {
    const peers = inTurn(current);
    const tried: Attempt[] = [];
    let pooledFailures = 0;
    const attempt = (): void => {
      const peer = peers.shift();
      if (peer === undefined) {
        onFailure({ class: "no-upstream", text: `no live upstreams, request: "${from.method} ${from.url}"` });
        answerItself(to, 502, tried);
        return;
      }
      const attemptedMs = performance.now();
      const attempted: Attempt = { address: address(peer), status: null, connectMs: null, responseMs: null };
      tried.push(attempted);
      let sent = false;
      let over = false;
      const out = httpRequest({
        host: peer.host,
        port: peer.port,
        method: from.method,
        path: from.url,
        headers: {
          ...endToEnd(from.headers),
          ...(body.length > 0 || from.method === "POST" ? { "content-length": body.length } : {}),
          ...(pool === null ? { connection: "close" } : {}),
        },
        agent: pool ?? false,
      });
      let connectTimer: NodeJS.Timeout | undefined;
      const fail = (error: NodeJS.ErrnoException): void => {
        if (over) {
          return;
        }
        over = true;
        clearTimeout(connectTimer);
        if (to.destroyed) {
          return; // The client left first; nothing failed.
        }
        const kind = classOf(error);
        // A write that failed was one, whatever the stream says of itself afterwards.
        const sending = !out.writableFinished || error.syscall === "write";
        attempted.status = kind === "timeout" ? 504 : 502;
        attempted.responseMs = performance.now() - attemptedMs;
        onFailure({
          class: kind,
          text: `${error.message} (${sent ? (sending ? "sending" : "sent") : "not sent"}${out.reusedSocket ? ", pooled connection" : ""}), upstream: ${address(peer)}, request: "${from.method} ${from.url}"`,
        });
        if (to.headersSent) {
          to.destroy(); // The head is out: a cut is all that can be told.
          return;
        }
        if (out.reusedSocket && pooledFailures === 0) {
          // nginx: a stale pooled connection does not use up the upstream's turn.
          pooledFailures += 1;
          peers.push(peer);
        }
        const safe = !sent || options.retryPosts === true || IDEMPOTENT.has(from.method ?? "");
        if (options.retries && safe && peers.length > 0) {
          attempt();
        } else {
          answerItself(to, attempted.status, tried);
        }
      };
      const connected = (): void => {
        clearTimeout(connectTimer);
        sent = true;
        attempted.connectMs = performance.now() - attemptedMs;
        out.setTimeout(options.readTimeoutMs, () => out.destroy(new UpstreamTimeout("read timed out")));
      };
      out.once("socket", (socket) => {
        if (socket.connecting) {
          connectTimer = setTimeout(
            () => out.destroy(new UpstreamTimeout("connect timed out")),
            options.connectTimeoutMs,
          );
          socket.once("connect", connected);
        } else {
          connected();
        }
      });
      out.once("error", fail);
      out.once("response", (answer) => {
        attempted.status = answer.statusCode ?? null;
        attempted.responseMs = performance.now() - attemptedMs;
        to.writeHead(answer.statusCode ?? 502, {
          ...endToEnd(answer.headers),
          "x-lastcall-upstream": told(tried),
          ...(options.clientKeepAlive ? {} : { connection: "close" }),
        });
        answer.once("error", fail);
        answer.once("end", () => (over = true));
        answer.pipe(to);
      });
      to.once("close", () => {
        if (!to.writableFinished) {
          out.destroy();
        }
      });
      out.end(body);
    };
    attempt();
  }

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen({ host: "127.0.0.1", port: options.port, backlog: 511 }, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    set: (next) => {
      current = next;
      pool?.forgetOthers(next);
    },
    close: () => {
      server.close();
      server.closeAllConnections();
      tunnels.close();
      pool?.destroy();
    },
  };
}

/** Null when it is too large to be kept for a retry. */
async function collectBody(from: IncomingMessage): Promise<Buffer | null> {
  const parts: Buffer[] = [];
  let length = 0;
  for await (const part of from) {
    length += (part as Buffer).length;
    if (length <= BODY_LIMIT_BYTES) {
      parts.push(part as Buffer);
    }
  }
  return length > BODY_LIMIT_BYTES ? null : Buffer.concat(parts);
}
