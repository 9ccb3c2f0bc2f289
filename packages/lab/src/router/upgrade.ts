/**
 * Upgrades through the embedded router (WebSockets): as nginx passes them on. The copy is chosen when the WebSocket is opened; from
 * then on bytes, ends and resets go through as they are, also when the copy has been taken out.
 */

import { request, type IncomingMessage } from "node:http";
import type net from "node:net";
import { classOf, told, UpstreamTimeout, type Attempt } from "./attempt.ts";
import { joinSockets } from "./joined-sockets.ts";
import { destroyUnlessReset } from "./pass-reset.ts";
import type { ProxyFailure, ProxyOptions } from "./proxy.ts";
import type { Upstream } from "./router.ts";
import { address } from "./upstream-pool.ts";

export interface Tunnels {
  /** `peers`: whom to ask, in this order; `headers`: those that go to the copy. */
  open(
    from: IncomingMessage,
    client: net.Socket,
    head: Buffer,
    peers: readonly Upstream[],
    headers: Readonly<Record<string, unknown>>,
  ): void;
  close(): void;
}

/** As they stand in the answer, one line each, and ours. */
function headOf(answer: IncomingMessage, tried: readonly Attempt[], close: boolean): string {
  const lines: string[] = [`HTTP/1.1 ${answer.statusCode} ${answer.statusMessage}`];
  for (let at = 0; at < answer.rawHeaders.length; at += 2) {
    const name = answer.rawHeaders[at] ?? "";
    // A body that is not an upgrade's ends with the connection.
    if (!close || !/^(?:connection|keep-alive|transfer-encoding)$/i.test(name)) {
      lines.push(`${name}: ${answer.rawHeaders[at + 1]}`);
    }
  }
  return [
    ...lines,
    `x-lastcall-upstream: ${told(tried)}`,
    ...(close ? ["connection: close"] : []),
    "",
    "",
  ].join("\r\n");
}

export function createTunnels(
  options: Pick<ProxyOptions, "retries" | "connectTimeoutMs" | "readTimeoutMs">,
  onFailure: (failure: ProxyFailure) => void,
): Tunnels {
  /** Both sides of each tunnel. */
  const sockets = new Set<net.Socket>();
  const keep = (socket: net.Socket): void => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => destroyUnlessReset(socket));
  };

  function attempt(
    from: IncomingMessage,
    client: net.Socket,
    head: Buffer,
    peers: readonly Upstream[],
    headers: Readonly<Record<string, unknown>>,
    tried: Attempt[],
  ): void {
    const about = `request: "${from.method} ${from.url}"`;
    const refuse = (status: number): void => {
      const text = `{"error":"router","status":${status}}`;
      const by = tried.length === 0 ? "" : `x-lastcall-upstream: ${told(tried)}\r\n`;
      client.end(
        `HTTP/1.1 ${status} Bad Gateway\r\ncontent-type: application/json\r\ncontent-length: ${text.length}\r\n${by}connection: close\r\n\r\n${text}`,
      );
    };
    const [peer, ...others] = peers;
    if (peer === undefined) {
      onFailure({ class: "no-upstream", text: `no live upstreams, ${about}` });
      refuse(502);
      return;
    }
    const beganMs = performance.now();
    const attempted: Attempt = { address: address(peer), status: null, connectMs: null, responseMs: null };
    tried.push(attempted);
    const out = request({
      host: peer.host,
      port: peer.port,
      method: from.method,
      path: from.url,
      headers: { ...headers, connection: "Upgrade", upgrade: from.headers.upgrade } as Record<string, string>,
      agent: false,
    });
    const timer = setTimeout(
      () => out.destroy(new UpstreamTimeout("connect timed out")),
      options.connectTimeoutMs,
    );
    const answered = (answer: IncomingMessage): void => {
      attempted.status = answer.statusCode ?? null;
      attempted.responseMs = performance.now() - beganMs;
    };
    let over = false;
    out.once("socket", (socket) =>
      socket.once("connect", () => {
        clearTimeout(timer);
        attempted.connectMs = performance.now() - beganMs;
        socket.setTimeout(options.readTimeoutMs, () => out.destroy(new UpstreamTimeout("read timed out")));
      }),
    );
    out.on("error", (error: NodeJS.ErrnoException) => {
      clearTimeout(timer);
      if (over || client.destroyed) {
        return;
      }
      over = true;
      const kind = classOf(error);
      attempted.status = kind === "timeout" ? 504 : 502;
      attempted.responseMs = performance.now() - beganMs;
      onFailure({ class: kind, text: `${error.message}, upstream: ${address(peer)}, ${about}` });
      if (options.retries && others.length > 0) {
        attempt(from, client, head, others, headers, tried);
      } else {
        refuse(attempted.status);
      }
    });
    out.once("upgrade", (answer, server, first) => {
      over = true;
      keep(server);
      server.setTimeout(0);
      server.setNoDelay(true);
      answered(answer);
      client.write(headOf(answer, tried, false));
      client.write(first);
      server.write(head);
      joinSockets(client, server);
    });
    out.once("response", (answer) => {
      over = true;
      answered(answer);
      client.write(headOf(answer, tried, true));
      answer.once("error", () => client.destroy());
      answer.pipe(client);
    });
    client.once("close", () => {
      if (!over) {
        out.destroy();
      }
    });
    out.end();
  }

  return {
    open: (from, client, head, peers, headers) => {
      keep(client);
      attempt(from, client, head, peers, headers, []);
    },
    close: () => {
      for (const socket of sockets) {
        destroyUnlessReset(socket);
      }
    },
  };
}
