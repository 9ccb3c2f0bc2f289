// A WebSocket endpoint by hand: accepts everybody, answers a close frame. Kinds: `plain`, and `lastcall` with the library.
import { createHash } from "node:crypto";
import http from "node:http";

const [kind, extra = "{}"] = process.argv.slice(2);
const server = http.createServer((_, response) => response.end("ok"));
let seen = 0;

server.on("upgrade", (request, socket) => {
  seen += 1;
  const accept = createHash("sha1")
    .update(`${request.headers["sec-websocket-key"]}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`)
    .digest("base64");
  socket.write(
    `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
  );
  socket.on("error", () => socket.destroy());
  socket.on("data", (bytes) => {
    if (bytes[0] === 0x88) socket.end();
  });
});

if (kind === "lastcall") {
  const { createLifecycle } = await import("lastcall");
  const life = createLifecycle({
    gracePeriodMs: 120_000,
    leaveOrder: "announce-first",
    ...JSON.parse(extra),
  });
  life.http(server);
  server.once("listening", () => life.ready());
}
process.on("message", (message) => {
  if (message === "seen") process.send({ seen });
  if (message !== "memory") return;
  globalThis.gc();
  globalThis.gc();
  process.send({ memory: process.memoryUsage() });
});
server.listen({ port: 0, host: "127.0.0.1", backlog: 4096 }, () =>
  process.send({ port: server.address().port }),
);
