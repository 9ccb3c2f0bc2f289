import { createServer } from "node:http";
import { createLifecycle } from "lastcall";
import { app, DRAIN_DELAY, listen, TIMEOUT } from "../app.mjs";

const life = createLifecycle({
  gracePeriodMs: 30_000,
  drainDelayMs: DRAIN_DELAY,
  gracefulTimeoutMs: TIMEOUT,
});
const server = createServer((request, response) => {
  if (!life.probes(request, response)) void app(request, response);
});
life.http(server);
listen(server, () => life.ready());
