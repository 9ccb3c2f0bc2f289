// Fastify with close-with-grace, as its documentation recommends.
import { setTimeout as wait } from "node:timers/promises";
import { peer, TIMEOUT } from "../app.mjs";

const app = peer("fastify")();
app.get("/ordinary", async (request) => `ordinary ${request.query.id}`);
app.get("/slow", async (request) => {
  await wait(Number(request.query.seconds) * 1000);
  return `slow ${request.query.id}`;
});
peer("close-with-grace")({ delay: TIMEOUT }, () => app.close());
await app.listen({ port: Number(process.env.PORT), host: "127.0.0.1" });
