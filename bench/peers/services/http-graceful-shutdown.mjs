import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { app, DRAIN_DELAY, listen, peer, TIMEOUT } from "../app.mjs";

const server = createServer(app);
peer("http-graceful-shutdown")(server, {
  signals: "SIGINT SIGTERM",
  timeout: TIMEOUT,
  preShutdown: () => wait(DRAIN_DELAY),
});
listen(server);
