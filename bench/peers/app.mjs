// What every service of the table shares: the same routes, and where a peer's packages are.
import { createRequire } from "node:module";

export { app } from "../../fixtures/routes.mjs";

/** The peers live in a folder of their own with a lock file of their own. */
export const peer = createRequire(new URL("../../tools/peers/package.json", import.meta.url));

/** Milliseconds, as the lab sets them; what a peer's README shows otherwise. */
export const DRAIN_DELAY = Number(process.env.DRAIN_DELAY ?? 0);
export const TIMEOUT = Number(process.env.TIMEOUT ?? 8000);

export function listen(server, then) {
  server.listen(Number(process.env.PORT), "127.0.0.1", then);
}
