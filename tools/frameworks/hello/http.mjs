// Node's own example (nodejs.org/en/learn/getting-started/introduction-to-nodejs).
import { createServer } from "node:http";
import { ownHandler, serve, SLOW_MS } from "./port.mjs";

const server = createServer((req, res) => {
  res.statusCode = 200;
  res.setHeader("Content-Type", "text/plain");
  setTimeout(() => res.end("Hello World"), req.url === "/slow" ? SLOW_MS : 0);
});
server.listen(0, "127.0.0.1", () => serve(server));
ownHandler(() => {
  server.close(() => process.exit(0));
});
