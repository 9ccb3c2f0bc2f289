// The same over TLS; the certificate comes from whoever starts it.
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { ownHandler, serve, SLOW_MS } from "./port.mjs";

const options = { key: readFileSync(process.env.TLS_KEY), cert: readFileSync(process.env.TLS_CERT) };
const server = createServer(options, (req, res) => {
  res.writeHead(200, { "Content-Type": "text/plain" });
  setTimeout(() => res.end("Hello World"), req.url === "/slow" ? SLOW_MS : 0);
});
server.listen(0, "127.0.0.1", () => serve(server));
ownHandler(() => {
  server.close(() => process.exit(0));
});
