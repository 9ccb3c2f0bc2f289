// What every service of the table shares: the same routes, no opinion about stopping, and where a peer's packages are.
import { createRequire } from "node:module";
import { setTimeout as wait } from "node:timers/promises";

/** The peers live in a folder of their own with a lock file of their own. */
export const peer = createRequire(new URL("../../tools/peers/package.json", import.meta.url));

/** Milliseconds, as the lab sets them; what a peer's README shows otherwise. */
export const DRAIN_DELAY = Number(process.env.DRAIN_DELAY ?? 0);
export const TIMEOUT = Number(process.env.TIMEOUT ?? 8000);

export async function app(request, response) {
  const url = new URL(request.url, "http://service");
  const seconds = Number(url.searchParams.get("seconds") ?? 0);
  const id = url.searchParams.get("id") ?? "";
  if (url.pathname === "/slow") {
    await wait(seconds * 1000);
    response.end(`slow ${id}`);
  } else if (url.pathname === "/stream") {
    response.write("first\n");
    for (let part = 0; part < 5; part += 1) {
      await wait(seconds * 200);
      response.write("part\n");
    }
    response.end("last\n");
  } else if (url.pathname === "/upload") {
    let bytes = 0;
    for await (const chunk of request) bytes += chunk.length;
    response.end(`${bytes} bytes`);
  } else {
    response.end(`ordinary ${id}`);
  }
}

export function listen(server, then) {
  server.listen(Number(process.env.PORT), "127.0.0.1", then);
}
