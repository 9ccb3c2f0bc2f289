// Socket.IO: polling and WebSocket, as it comes.
import { createServer } from "node:http";
import { Server } from "socket.io";
import { life, listen, ownStop } from "./service.mjs";

const server = createServer();
life.http(server);
const sockets = new Server(server);
sockets.on("connection", (socket) => socket.on("echo", (text, answer) => answer(text)));
ownStop(() => sockets.close());
listen(server);
