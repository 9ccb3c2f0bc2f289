/**
 * The embedded router as a balancer of layer 4: a client's connection is one to a copy, chosen when it is made. It sees no
 * requests, so it repeats none: only a connection that could not be made goes to the next copy.
 */

import net, { type AddressInfo } from "node:net";
import { classOf } from "./attempt.ts";
import { joinSockets } from "./joined-sockets.ts";
import { destroyUnlessReset, passReset } from "./pass-reset.ts";
import type { Proxy, ProxyFailure, ProxyOptions } from "./proxy.ts";
import { createRoundRobin } from "./round-robin.ts";
import type { Upstream } from "./router.ts";
import { address } from "./upstream-pool.ts";

interface Pair {
  readonly upstream: Upstream;
  readonly client: net.Socket;
  readonly server: net.Socket;
}

/** `cut`: the connections of a copy that is taken out are closed at once; otherwise they stay until somebody closes them. */
export async function startTcpProxy(
  options: Pick<ProxyOptions, "port" | "retries" | "connectTimeoutMs"> & { readonly cut: boolean },
  upstreams: readonly Upstream[],
  onFailure: (failure: ProxyFailure) => void,
): Promise<Proxy> {
  let current = upstreams;
  const inTurn = createRoundRobin();
  const clients = new Set<net.Socket>();
  const pairs = new Set<Pair>();

  function attempt(client: net.Socket, peers: readonly Upstream[]): void {
    const [upstream, ...others] = peers;
    if (upstream === undefined) {
      onFailure({ class: "no-upstream", text: "no live upstreams" });
      passReset(client);
      return;
    }
    const server = net.connect({
      host: upstream.host,
      port: upstream.port,
      noDelay: true,
      allowHalfOpen: true,
    });
    const timer = setTimeout(
      () => server.destroy(Object.assign(new Error("connect timed out"), { code: "ETIMEDOUT" })),
      options.connectTimeoutMs,
    );
    const refused = (error: NodeJS.ErrnoException): void => {
      clearTimeout(timer);
      onFailure({ class: classOf(error), text: `${error.message}, upstream: ${address(upstream)}` });
      if (options.retries && others.length > 0 && !client.destroyed) {
        attempt(client, others);
      } else {
        passReset(client);
      }
    };
    server.once("error", refused);
    server.once("connect", () => {
      clearTimeout(timer);
      server.removeListener("error", refused);
      join({ upstream, client, server });
    });
  }

  function join(pair: Pair): void {
    const { client, server } = pair;
    if (client.destroyed) {
      server.destroy();
      return;
    }
    pairs.add(pair);
    for (const side of [client, server]) {
      side.once("close", () => pairs.delete(pair));
    }
    joinSockets(client, server);
  }

  const listener = net.createServer(
    { allowHalfOpen: true, noDelay: true, pauseOnConnect: true },
    (client) => {
      clients.add(client);
      client.once("close", () => clients.delete(client));
      client.on("error", () => destroyUnlessReset(client));
      attempt(client, inTurn(current));
    },
  );
  await new Promise<void>((resolve, reject) => {
    listener.once("error", reject);
    listener.listen({ host: "127.0.0.1", port: options.port, backlog: 511 }, resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    set: (next) => {
      current = next;
      for (const pair of options.cut ? pairs : []) {
        if (!next.some((one) => address(one) === address(pair.upstream))) {
          onFailure({
            class: "cut-by-router",
            text: `closed at the removal, upstream: ${address(pair.upstream)}`,
          });
          destroyUnlessReset(pair.client);
          destroyUnlessReset(pair.server);
        }
      }
    },
    close: () => {
      listener.close();
      for (const client of clients) {
        destroyUnlessReset(client);
      }
      for (const { server } of pairs) {
        destroyUnlessReset(server);
      }
    },
  };
}
