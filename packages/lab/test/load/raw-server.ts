/** A tiny server that says exactly what a test tells it to: no HTTP in between. */

import { once } from "node:events";
import net from "node:net";

export interface RawServer {
  readonly port: number;
  readonly sockets: Set<net.Socket>;
  close(): Promise<void>;
}

/** `onRequest` is called for each chunk that comes; requests of a load engine come whole. `n` counts requests per connection, from 1. */
export async function rawServer(
  onRequest: (socket: net.Socket, n: number, chunk: string) => void,
): Promise<RawServer> {
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    let n = 0;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    socket.on("data", (chunk: Buffer) => onRequest(socket, (n += 1), chunk.toString("latin1")));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as net.AddressInfo).port,
    sockets,
    close: async () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      const closed = once(server, "close");
      server.close();
      await closed;
    },
  };
}

/** A port on which nobody listens. */
export async function closedPort(): Promise<number> {
  const server = await rawServer(() => {});
  await server.close();
  return server.port;
}
