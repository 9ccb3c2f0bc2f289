/** A server of WebSockets that says exactly what a test tells it to, frame by frame. */

import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";

export interface Guest {
  readonly request: IncomingMessage;
  readonly socket: Duplex;
  say(text: string): void;
  /** A close frame. */
  dismiss(code: number): void;
}

export interface WebSocketServer {
  readonly port: number;
  close(): Promise<void>;
}

export function serverFrame(opcode: number, payload: Uint8Array, final = true): Buffer {
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode, payload.length]), payload]);
}

/** The first frame of a client, short and masked, and what follows it. */
export function clientFrameIn(bytes: Buffer): { opcode: number; payload: Buffer; rest: Buffer } | null {
  const length = (bytes[1] ?? 0) & 0x7f;
  if (bytes.length < 6 + length) {
    return null;
  }
  const mask = bytes.subarray(2, 6);
  const payload = Buffer.from(bytes.subarray(6, 6 + length).map((byte, at) => byte ^ (mask[at % 4] ?? 0)));
  return { opcode: (bytes[0] ?? 0) & 0x0f, payload, rest: bytes.subarray(6 + length) };
}

/** `onText` is called for each message, `onGuest` for each WebSocket that stands. A close frame is answered. */
export async function webSocketServer(
  onText: (guest: Guest, text: string) => void = (guest, text) => guest.say(text),
  onGuest: (guest: Guest) => void = () => undefined,
): Promise<WebSocketServer> {
  const sockets = new Set<Duplex>();
  const server = createServer((_req, res) => void res.end("no WebSocket"));
  server.on("upgrade", (request, socket, first) => {
    sockets.add(socket);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => sockets.delete(socket));
    const key = `${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash("sha1").update(key).digest("base64");
    socket.write(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\nx-lastcall-copy: A\r\n\r\n`,
    );
    let left = false;
    const guest: Guest = {
      request,
      socket,
      say: (text) => void socket.write(serverFrame(1, Buffer.from(text))),
      dismiss: (code) => {
        left = true;
        socket.write(serverFrame(8, Buffer.from([code >> 8, code & 0xff])));
      },
    };
    let received: Buffer = first;
    socket.on("data", (part: Buffer) => {
      received = Buffer.concat([received, part]);
      for (let frame = clientFrameIn(received); frame !== null; frame = clientFrameIn(received)) {
        received = frame.rest;
        if (frame.opcode === 1) {
          onText(guest, frame.payload.toString());
        } else if (frame.opcode === 9 && !left) {
          socket.write(serverFrame(10, frame.payload));
        } else if (frame.opcode === 8) {
          socket.end(left ? "" : serverFrame(8, frame.payload.subarray(0, 2)));
        }
      }
    });
    onGuest(guest);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      for (const socket of sockets) {
        socket.destroy();
      }
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
