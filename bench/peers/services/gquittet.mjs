import { createServer } from "node:http";
import { app, listen, peer, TIMEOUT } from "../app.mjs";

const server = createServer(app);
const GracefulServer = peer("@gquittet/graceful-server");
const graceful = (GracefulServer.default ?? GracefulServer)(server, { timeout: TIMEOUT, kubernetes: true });
listen(server, () => graceful.setReady());
