import { createServer } from "node:http";
import { app, listen, peer } from "../app.mjs";

const server = peer("http-shutdown")(createServer(app));
process.on("SIGTERM", () => server.shutdown(() => process.exit(0)));
listen(server);
