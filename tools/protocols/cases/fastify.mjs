// @fastify/websocket.
import websocket from "@fastify/websocket";
import Fastify from "fastify";
import { life, ownStop } from "./service.mjs";

const app = Fastify();
await app.register(websocket);
app.get("/", { websocket: true }, (socket) => socket.on("message", (message) => socket.send(message)));
life.http(app.server);
ownStop(() => app.close());
await app.listen({ port: 0, host: "127.0.0.1" });
life.ready();
console.log(JSON.stringify({ port: app.server.address().port }));
