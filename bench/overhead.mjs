// What the library costs a request, without a kernel in the way: synthetic sockets on real http servers in one process,
// shuffled batches, and the same bare server twice as the control. Run as a process of its own; prints JSON.
import { once } from "node:events";
import http from "node:http";
import { Duplex } from "node:stream";
import { createLifecycle } from "lastcall";
import { measureBatches } from "./batches.mjs";

const BATCHES = 250;
const [boundary = "response", seed = "1"] = process.argv.slice(2);
const REQUEST = Buffer.from(
  "GET /work?seconds=0.3 HTTP/1.1\r\nHost: bench\r\nUser-Agent: bench\r\nAccept: */*\r\n\r\n",
);

/** A connection whose other end asks again as soon as it was answered, one turn of the loop later. */
class Socket extends Duplex {
  left = 0;
  #done = () => {};
  #ask = () => this.push(REQUEST);
  _read() {}
  _write(_chunk, _encoding, callback) {
    callback();
    this.#answered();
  }
  _writev(_chunks, callback) {
    callback();
    this.#answered();
  }
  #answered() {
    this.left -= 1;
    if (this.left > 0) setImmediate(this.#ask);
    else setImmediate(this.#done);
  }
  batch(size) {
    return new Promise((resolve) => {
      this.#done = resolve;
      this.left = size;
      this.push(REQUEST);
    });
  }
}

const work = (_req, res) => {
  res.writeHead(200, { "content-type": "text/plain", "content-length": 2 });
  res.end("ok");
};
// The same handler everywhere. For boundary `handler` one that awaits, as asynchronous handlers do: what the first turn of
// the microtask queue costs (400 ns here) is not the library's cost.
const stored = Promise.resolve();
const waiting = async (req, res) => {
  await stored;
  work(req, res);
};
const handler = boundary === "handler" ? waiting : work;

const life = createLifecycle({ boundary, log: "none" });
const guarded = http.createServer(boundary === "handler" ? life.handler(handler) : handler);
life.http(guarded);
// Each listens, for Node does more for a server that does.
const listening = async (server) => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  return server;
};
const bare = await listening(http.createServer(handler));
const again = await listening(http.createServer(handler));
await listening(guarded);
// Auto mode joins that lifecycle, and finds the servers that begin to listen from now on.
await import("lastcall/auto");
const found = await listening(http.createServer(handler));
const variants = {
  bare,
  "bare again (control)": again,
  lastcall: guarded,
  "lastcall/auto": found,
};
const sockets = Object.fromEntries(
  Object.entries(variants).map(([name, server]) => {
    server.keepAliveTimeout = 0;
    const socket = new Socket();
    server.emit("connection", socket);
    return [name, socket];
  }),
);
await measureBatches(sockets, { batches: BATCHES, seed: Number(seed) });
