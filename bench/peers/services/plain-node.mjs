// Node alone, as its documentation and most tutorials have it.
import { createServer } from "node:http";
import { app, listen } from "../app.mjs";

const server = createServer(app);
process.on("SIGTERM", () => server.close(() => process.exit(0)));
listen(server);
