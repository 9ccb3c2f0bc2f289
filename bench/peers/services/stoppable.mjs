import { createServer } from "node:http";
import { app, listen, peer, TIMEOUT } from "../app.mjs";

const server = peer("stoppable")(createServer(app), TIMEOUT);
process.on("SIGTERM", () => server.stop((error, gracefully) => process.exit(gracefully ? 0 : 1)));
listen(server);
