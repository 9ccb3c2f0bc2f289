// Socket.IO: polling and WebSocket, as it comes.
import { createServer } from "node:http";
import { Server } from "socket.io";
import { life, listen } from "./service.mjs";

const server = createServer();
life.http(server);
new Server(server).on("connection", (socket) => socket.on("echo", (text, answer) => answer(text)));
listen(server);
