// `ws`: echoes, and with STREAM sends 100 kB messages in two fragments, one after the other.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";
import { closed, life, listen, ownStop } from "./service.mjs";

const server = createServer((_, response) => response.end("ok"));
life.http(server);
const sockets = new WebSocketServer({ server, perMessageDeflate: process.env.DEFLATE === "1" });
sockets.on("connection", (socket) => {
  socket.on("message", (message) => socket.send(message));
  socket.on("error", () => {});
  if (process.env.STREAM === "1") {
    const half = Buffer.alloc(50_000, "x");
    const send = () => {
      if (socket.readyState !== socket.OPEN) return;
      socket.send(half, { fin: false });
      socket.send(half, { fin: true }, () => setTimeout(send, 5));
    };
    send();
  }
});
ownStop(() => {
  sockets.clients.forEach((socket) => socket.close(1001));
  return closed(server);
});
listen(server);
