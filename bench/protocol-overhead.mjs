// What the library costs an HTTP/2 stream and a WebSocket message, without a kernel in the way: synthetic sockets on real
// servers in one process, shuffled batches, the same bare server twice as the control. Usage: streams|messages SEED.
import http from "node:http";
import http2 from "node:http2";
import { Duplex } from "node:stream";
import { createLifecycle } from "lastcall";
import { measureBatches } from "./batches.mjs";

const BATCHES = 200;
const [what = "streams", seed = "1"] = process.argv.slice(2);

/** A connection whose other end asks again as soon as it was answered. */
class Socket extends Duplex {
  left = 0;
  done = () => {};
  _read() {}
  _write(chunk, _encoding, callback) {
    callback();
    this.heard(chunk);
  }
  setNoDelay() {}
  setTimeout() {}
  answered() {
    this.left -= 1;
    if (this.left > 0) setImmediate(() => this.ask());
    else setImmediate(this.done);
  }
  batch(size) {
    return new Promise((resolve) => {
      this.done = resolve;
      this.left = size;
      this.ask();
    });
  }
}

class StreamSocket extends Socket {
  #next = 1;
  #rest = Buffer.alloc(0);
  begin() {
    this.push(Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1"));
  }
  ask() {
    const frame = Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 0, 0x82, 0x86, 0x84, 0x01, 0x01, 0x78]);
    frame.writeUInt32BE(this.#next, 5);
    this.#next += 2;
    this.push(frame);
  }
  heard(chunk) {
    this.#rest = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    while (this.#rest.length - at >= 9) {
      const end = at + 9 + this.#rest.readUIntBE(at, 3);
      if (this.#rest.length < end) break;
      const type = this.#rest[at + 3];
      const flags = this.#rest[at + 4];
      if ((type === 0 || type === 1) && (flags & 1) === 1) this.answered();
      else if (type === 4 && (flags & 1) === 0) this.push(Buffer.from([0, 0, 0, 4, 1, 0, 0, 0, 0]));
      else if (type === 0 && end - at > 9) {
        // The connection's window; a stream's own is never used up.
        const update = Buffer.from([0, 0, 4, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        update.writeUInt32BE(end - at - 9, 9);
        this.push(update);
      }
      at = end;
    }
    this.#rest = this.#rest.subarray(at);
  }
}

class MessageSocket extends Socket {
  #upgraded = false;
  begin() {
    this.push("GET /ws HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
  }
  ask() {
    this.push(MESSAGE);
  }
  heard() {
    if (this.#upgraded) this.answered();
    this.#upgraded = true;
  }
}

/** A text of 100 bytes as a client sends it, and as it goes back. */
const MESSAGE = Buffer.concat([Buffer.from([0x81, 0x80 | 100, 0, 0, 0, 0]), Buffer.alloc(100, "x")]);
const ECHO = Buffer.concat([Buffer.from([0x81, 100]), Buffer.alloc(100, "x")]);

const KINDS = {
  streams: {
    server: () =>
      http2.createServer((_request, response) => {
        response.writeHead(200, { "content-type": "text/plain" });
        response.end("ok");
      }),
    socket: () => new StreamSocket(),
  },
  messages: {
    server: () =>
      http.createServer().on("upgrade", (_request, socket) => {
        socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
        socket.on("data", () => socket.write(ECHO));
      }),
    socket: () => new MessageSocket(),
  },
};

const kind = KINDS[what];
const life = createLifecycle({ log: "none" });
const guarded = kind.server();
life.http(guarded);
const variants = { bare: kind.server(), "bare again (control)": kind.server(), lastcall: guarded };
const sockets = Object.fromEntries(
  Object.entries(variants).map(([name, server]) => {
    const socket = kind.socket();
    server.emit("connection", socket);
    socket.begin();
    return [name, socket];
  }),
);
await new Promise((resolve) => setTimeout(resolve, 100));
await measureBatches(sockets, { batches: BATCHES, seed: Number(seed) });
