// Hono on Node, with the graceful shutdown of its page (hono.dev/docs/getting-started/nodejs).
import { serve as honoServe } from "@hono/node-server";
import { Hono } from "hono";
import { ownHandler, serve, slowly } from "./port.mjs";

const app = new Hono();
app.get("/", (c) => c.text("Hello Node.js!"));
app.get("/slow", async (c) => {
  await slowly();
  return c.text("slow");
});
const server = honoServe({ fetch: app.fetch, port: 0, hostname: "127.0.0.1" }, () => serve(server));
ownHandler(() => {
  server.close((error) => {
    if (error) {
      console.error(error);
      process.exit(1);
    }
    process.exit(0);
  });
});
