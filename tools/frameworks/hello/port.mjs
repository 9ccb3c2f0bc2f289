// What each example has beside the framework's own lines: it tells its port, has a slow route, and may handle SIGTERM.
import { setTimeout as delay } from "node:timers/promises";

export const SLOW_MS = 1500;
export const slowly = () => delay(SLOW_MS);

export function serve(server) {
  console.log(`listening ${server.address().port}`);
}

export function ownHandler(handler) {
  if (process.env.OWN_HANDLER === "1") process.on("SIGTERM", handler);
}
