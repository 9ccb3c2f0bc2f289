/** Which client sends what: requests by the engine that was asked for, HTTP/2 by Node's client, WebSockets by the lab's own. */

import { createHttpClient } from "./http-client.ts";
import type { LibraryClientOptions } from "./library-client.ts";
import type { LoadPlan } from "./load.ts";
import type { Mix } from "./mix.ts";
import type { LibraryClient } from "./node-client.ts";

export interface Client {
  /** Intended times must not go backwards. */
  send(n: number, intendedMs: number): void;
  /** Requests without a fate. */
  readonly open: number;
  /** Pooled connections that wait for a request; absent where requests do not simply take one. */
  readonly free?: () => number;
  /** Opens so many pooled connections before they are needed. */
  readonly connect?: (count: number) => Promise<void>;
  /** No more will be sent: what is held open may come to its end. */
  stop?(): void;
  /** Ends at once; open requests get no fate. */
  close(): void;
}

/** Numbers for the connections of one client of several, so that no two have the same. */
function numbered(options: LibraryClientOptions, place: number, of: number): LibraryClientOptions {
  return {
    ...options,
    onEnd: (exchange) => {
      exchange.connectionId = exchange.connectionId * of - (of - 1 - place);
      options.onEnd(exchange);
    },
  };
}

async function engineClient(plan: LoadPlan, mix: Mix, options: LibraryClientOptions): Promise<Client> {
  const engine = plan.engine ?? "raw";
  if (engine === "raw") {
    const raw = createHttpClient(options);
    const pools = plan.keepAlive && plan.mix.every(({ connection }) => connection !== "fresh");
    return {
      ...(pools ? { free: () => raw.free, connect: raw.connect } : {}),
      send: (n, dueMs) => raw.send(n, dueMs, mix.wire(n), mix.outgoing(n)),
      get open() {
        return raw.open;
      },
      close: raw.close,
    };
  }
  // Only where it is asked for: undici is large.
  const library =
    engine === "node"
      ? (await import("./node-client.ts")).createNodeClient(options)
      : (await import("./undici-client.ts")).createUndiciClient(options);
  return sending(library, mix);
}

function sending(library: LibraryClient, mix: Mix): Client {
  return {
    send: (n, dueMs) => library.send(n, dueMs, mix.structured(n)),
    get open() {
      return library.open;
    },
    close: library.close,
  };
}

/** The client of a whole plan. */
export async function createClient(plan: LoadPlan, mix: Mix, options: LibraryClientOptions): Promise<Client> {
  const hasHttp2 = plan.mix.some(({ protocol }) => protocol === "h2");
  const hasWebSockets = plan.mix.some(({ webSocket }) => webSocket !== undefined);
  if (!hasHttp2 && !hasWebSockets) {
    return engineClient(plan, mix, options);
  }
  const http1 = await engineClient(plan, mix, numbered(options, 0, 3));
  const http2 = sending((await import("./http2-client.ts")).createHttp2Client(numbered(options, 1, 3)), mix);
  const webSockets = (await import("./web-socket-client.ts")).createWebSocketClient(numbered(options, 2, 3));
  return {
    send: (n, dueMs) => {
      if (mix.outgoing(n).webSocket !== null) {
        webSockets.send(n, dueMs, (again) => mix.structured(n, again));
      } else {
        (mix.at(n).protocol === "h2" ? http2 : http1).send(n, dueMs);
      }
    },
    get open() {
      return http1.open + http2.open + webSockets.open;
    },
    stop: webSockets.stop,
    close: () => {
      http1.close();
      http2.close();
      webSockets.close();
    },
  };
}
