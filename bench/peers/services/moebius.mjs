import { createServer } from "node:http";
import { app, listen, peer } from "../app.mjs";

const server = createServer(app);
const { GracefulShutdownManager } = peer("@moebius/http-graceful-shutdown");
const manager = new GracefulShutdownManager(server);
process.on("SIGTERM", () => manager.terminate(() => process.exit(0)));
listen(server);
