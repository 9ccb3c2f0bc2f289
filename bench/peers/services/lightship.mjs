// Lightship does the probes, the delay and the handlers; closing the server is the app's.
import { createServer } from "node:http";
import { app, DRAIN_DELAY, listen, TIMEOUT } from "../app.mjs";

const { createLightship } = await import(
  new URL("../../../tools/peers/node_modules/lightship/dist/esm/index.js", import.meta.url)
);
const lightship = await createLightship({
  detectKubernetes: false,
  port: 0,
  shutdownDelay: DRAIN_DELAY,
  gracefulShutdownTimeout: TIMEOUT,
  shutdownHandlerTimeout: TIMEOUT,
});
const server = createServer(app);
lightship.registerShutdownHandler(() => new Promise((resolve) => server.close(resolve)));
listen(server, () => lightship.signalReady());
