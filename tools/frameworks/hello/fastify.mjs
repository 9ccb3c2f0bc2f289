// Fastify's first server (fastify.dev/docs/latest/Guides/Getting-Started), closed by `app.close()`.
import Fastify from "fastify";
import { ownHandler, serve, slowly } from "./port.mjs";

const app = Fastify();
app.get("/", async () => ({ hello: "world" }));
app.get("/slow", async () => {
  await slowly();
  return { slow: true };
});
await app.listen({ port: 0, host: "127.0.0.1" });
serve(app.server);
ownHandler(async () => {
  await app.close();
  process.exit(0);
});
