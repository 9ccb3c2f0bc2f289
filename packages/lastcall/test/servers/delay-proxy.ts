/** A TCP proxy with a distance: what comes in on one side leaves on the other a fixed time later. Keeps what the server sent. */

import { once } from "node:events";
import { connect, createServer, type AddressInfo, type Socket } from "node:net";

export interface DelayProxy {
  readonly port: number;
  /** All bytes that the server has sent, per connection in the order of their arrival. */
  readonly fromServer: Buffer[][];
  close(): void;
}

function carry(from: Socket, to: Socket, delayMs: number, seen: (chunk: Buffer) => void): void {
  const later = (run: () => void): void => {
    if (delayMs === 0) {
      run();
    } else {
      setTimeout(run, delayMs);
    }
  };
  from.on("data", (chunk: Buffer) => {
    seen(chunk);
    later(() => to.write(chunk));
  });
  from.on("end", () => later(() => to.end()));
  from.on("error", () => later(() => to.resetAndDestroy()));
}

/** `delayMs` is one way: half of the round trip. */
export async function delayProxy(target: number, delayMs: number): Promise<DelayProxy> {
  const fromServer: Buffer[][] = [];
  const open = new Set<Socket>();
  const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => {
    const upstream = connect({ port: target, host: "127.0.0.1", allowHalfOpen: true, noDelay: true });
    const chunks: Buffer[] = [];
    fromServer.push(chunks);
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on("close", () => open.delete(socket));
    }
    carry(client, upstream, delayMs, () => {});
    carry(upstream, client, delayMs, (chunk) => chunks.push(chunk));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    fromServer,
    close() {
      server.close();
      open.forEach((socket) => socket.destroy());
    },
  };
}
