import { createServer } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { app, DRAIN_DELAY, listen, peer, TIMEOUT } from "../app.mjs";

const server = createServer(app);
peer("@godaddy/terminus").createTerminus(server, {
  healthChecks: { "/readyz": async () => {} },
  signals: ["SIGTERM", "SIGINT"],
  timeout: TIMEOUT,
  useExit0: true,
  beforeShutdown: () => wait(DRAIN_DELAY),
});
listen(server);
