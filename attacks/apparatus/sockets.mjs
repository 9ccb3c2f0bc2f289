// A client on a bare socket: it writes when it is told to, to the microsecond, reads one answer, and never repeats anything.
import net from "node:net";
import { now } from "./target.mjs";

/**
 * What became of one request. `served`: a whole answer of 2xx. `refused`: a whole 503, or no connection: a clear no, after which any
 * client may try again. `told`: the connection had ended before the request was written, so that nothing was sent. `lost`: all else.
 */
const fate = (kind, why, more = {}) => ({ kind, why, head: "", ...more });

const PATIENCE_MS = 10_000;

/** A whole answer at the beginning of `text`, or null. All answers of the service but its streams have a length. */
function wholeAnswer(text) {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd === -1) return null;
  const head = text.slice(0, headEnd);
  const length = /^content-length: *(\d+)/im.exec(head)?.[1];
  const body = text.slice(headEnd + 4);
  const isWhole = length === undefined ? body.endsWith("0\r\n\r\n") : body.length >= Number(length);
  return isWhole ? { head, status: Number(head.split(" ")[1]) } : null;
}

export class Client {
  /** When the last request had been handed to the kernel. */
  sentAt = 0;
  #socket;
  #text = "";
  #ended = null;
  #settle = null;

  constructor(socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.setEncoding("latin1");
    socket.on("data", (part) => {
      this.#text += part;
      const whole = wholeAnswer(this.#text);
      if (whole === null) return;
      const { head, status } = whole;
      const kind = status < 300 ? "served" : status === 503 ? "refused" : "lost";
      this.#tell(fate(kind, String(status), { head }));
    });
    socket.on("end", () => this.#end("closed"));
    socket.on("error", (error) => this.#end(error.code));
    socket.on("close", () => this.#end("closed"));
  }

  get isOpen() {
    return this.#ended === null;
  }

  /** Whether a request has no answer yet. */
  get isWaiting() {
    return this.#settle !== null;
  }

  /** Writes these bytes; resolves with the fate of the request that they are. */
  ask(bytes, patienceMs = PATIENCE_MS) {
    if (this.#ended !== null) {
      this.sentAt = now();
      return Promise.resolve(fate("told", this.#ended));
    }
    const told = this.answer(patienceMs);
    this.#socket.write(bytes);
    this.sentAt = now();
    return told;
  }

  /** The next answer, for whoever writes piece by piece. */
  answer(patienceMs = PATIENCE_MS) {
    this.#text = "";
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#tell(fate("lost", "no answer in time")), patienceMs);
      this.#settle = (what) => {
        clearTimeout(timer);
        resolve(what);
      };
    });
  }

  get socket() {
    return this.#socket;
  }

  close() {
    this.#socket.destroy();
  }

  #end(why) {
    this.#ended ??= why;
    this.#tell(fate("lost", why));
  }

  #tell(what) {
    const settle = this.#settle;
    this.#settle = null;
    settle?.(what);
  }
}

export function orderBytes(id, path = "/orders?ms=0&") {
  return `POST ${path}id=${id} HTTP/1.1\r\nHost: attack\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`;
}

/** A connected client; null where the connection was refused. */
export function connect(port) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ host: "127.0.0.1", port });
    const fail = (error) => (error.code === "ECONNREFUSED" ? resolve(null) : reject(error));
    socket.once("error", fail);
    socket.once("connect", () => {
      socket.removeListener("error", fail);
      resolve(new Client(socket));
    });
  });
}

/** One request on a connection of its own, written as soon as there is one. */
export async function freshRequest(port, bytes) {
  try {
    const client = await connect(port);
    if (client === null) return fate("refused", "ECONNREFUSED");
    const what = await client.ask(bytes);
    client.close();
    return what;
  } catch (error) {
    return fate("lost", error.code);
  }
}

/** Connections that each had one request answered and now lie idle, as in a client's pool. */
export async function openPool(port, count) {
  const clients = [];
  while (clients.length < count) {
    // In pieces that fit the accept queue.
    const piece = Math.min(100, count - clients.length);
    const opened = await Promise.all(Array.from({ length: piece }, () => connect(port)));
    await Promise.all(opened.map((client) => client.ask("GET /ready HTTP/1.1\r\nHost: attack\r\n\r\n")));
    clients.push(...opened);
  }
  return clients;
}

/** `{ "ECONNRESET": 3, "closed": 1 }`: why those of this kind came to it. */
export function whys(fates, kind) {
  const counts = {};
  for (const { why } of fates.filter((one) => one.kind === kind)) counts[why] = (counts[why] ?? 0) + 1;
  return counts;
}
