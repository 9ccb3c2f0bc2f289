// A crowd of clients in a process of its own: `idle` connections that have had one answer and stay, and `busy` ones with a
// request in flight. Raw sockets, so that ten thousand of them cost little.
import net from "node:net";
import { nowNs } from "./stats.mjs";

const [port, idle, busy, busyPath] = process.argv.slice(2);
const result = { answered: 0, refused: 0, cut: 0, lastAnswerNs: 0 };
let open = 0;
let waiting = Number(busy);

function ask(socket, path) {
  socket.write(`GET ${path} HTTP/1.1\r\nHost: bench\r\n\r\n`);
}

function connect() {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port: Number(port), host: "127.0.0.1" });
    open += 1;
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      resolve(socket);
    });
    socket.once("close", () => {
      open -= 1;
      report();
    });
  });
}

async function idleConnection() {
  const socket = await connect();
  ask(socket, "/");
  await new Promise((resolve, reject) => {
    socket.once("data", resolve);
    socket.once("close", () => reject(new Error("closed before it was idle")));
  });
}

async function busyConnection() {
  const socket = await connect();
  let done = false;
  const end = (how) => {
    if (done) return;
    done = true;
    result[how] += 1;
    waiting -= 1;
    report();
  };
  socket.on("data", (bytes) => {
    const text = bytes.toString("latin1");
    if (text.startsWith("HTTP/1.1 503")) end("refused");
    else if (text.startsWith("HTTP/1.1 200") && text.endsWith("\r\n\r\nok")) {
      result.lastAnswerNs = nowNs();
      end("answered");
    }
  });
  socket.once("close", () => end("cut"));
  ask(socket, busyPath);
}

let settled = false;
let ready = false;
function report() {
  if (!ready || waiting > 0) return;
  if (!settled) {
    settled = true;
    process.send({ settled: result });
  }
  if (open === 0) process.disconnect();
}

/** No more than 200 connects at a time: the accept queue is not what is measured. */
async function all(count, make) {
  for (let n = 0; n < count; n += 200) {
    await Promise.all(Array.from({ length: Math.min(200, count - n) }, make));
  }
}

await all(Number(idle), idleConnection);
await all(Number(busy), busyConnection);
ready = true;
process.send({ ready: true });
