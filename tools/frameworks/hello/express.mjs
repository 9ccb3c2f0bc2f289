// Express's hello world (expressjs.com/en/starter/hello-world.html) and its graceful shutdown (.../advanced/healthcheck-graceful-shutdown.html).
import express from "express";
import { ownHandler, serve, SLOW_MS } from "./port.mjs";

const app = express();
app.get("/", (req, res) => {
  res.send("Hello World!");
});
app.get("/slow", (req, res) => {
  setTimeout(() => res.send("slow"), SLOW_MS);
});
const server = app.listen(0, "127.0.0.1", () => serve(server));
ownHandler(() => {
  server.close(() => process.exit(0));
});
