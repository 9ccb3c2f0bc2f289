/**
 * Code that has never run is slow for its first thousand requests, and at a high rate they would all be late. So an engine first
 * sends to a server of its own, in its own thread, and forgets what came of it.
 */

import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import type { LoadPlan } from "./load.ts";

/** Requests a second of one thread. Below, each has time enough, however slow the code is. */
export const HIGH_RATE = 1000;
const REQUESTS = 3000;
const AT_ONCE = 16;
/** On a busy machine the load begins cold rather than late. */
const LONGEST_MS = 1000;

/** As a service behind a router of the lab answers. */
const BODY = '{"pid":1}';
const ANSWER: string = [
  "HTTP/1.1 200 OK",
  "content-type: application/json",
  `content-length: ${BODY.length}`,
  "x-lastcall-upstream: 127.0.0.1:1|200|0.000|0.001",
  "connection: keep-alive",
  "",
  BODY,
].join("\r\n");

const MIX: LoadPlan["mix"] = [
  { method: "GET", path: "/?id={id}", body: null, weight: 1 },
  { method: "POST", path: "/", body: '{"id":"{id}"}', weight: 1 },
];

export interface WarmUpClient {
  send(n: number, intendedMs: number): void;
  close(): void;
}

/** `connect` makes a client for the run's plan with this change, which calls `onEnd` for each request that has ended. */
export async function warmUp(
  connect: (
    change: Pick<LoadPlan, "host" | "port" | "keepAlive" | "mix">,
    onEnd: () => void,
  ) => Promise<WarmUpClient>,
  now: () => number,
): Promise<void> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    // A request comes whole: it was written at once.
    socket.on("data", () => socket.write(ANSWER));
    socket.on("error", () => socket.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  let over = (): void => undefined;
  const ended = new Promise<void>((resolve) => {
    over = resolve;
  });
  let sent = 0;
  let open = AT_ONCE;
  const next = (): void => {
    if (sent < REQUESTS) {
      sent += 1;
      client.send(sent - 1, now());
    } else if ((open -= 1) === 0) {
      over();
    }
  };
  // In a turn of its own: a connection is free only when its answer has been dealt with.
  const { port } = server.address() as AddressInfo;
  const client = await connect({ host: "127.0.0.1", port, keepAlive: true, mix: MIX }, () =>
    setImmediate(next),
  );
  const timer = setTimeout(over, LONGEST_MS);
  for (let one = 0; one < AT_ONCE; one += 1) {
    next();
  }
  await ended;
  clearTimeout(timer);
  sent = REQUESTS;
  client.close();
  for (const socket of sockets) {
    socket.destroy();
  }
  const closed = once(server, "close");
  server.close();
  await closed;
}
