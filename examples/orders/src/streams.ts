/** Responses that take their time: a chunked one that proves its own wholeness, and server-sent events. */

import { createHash } from "node:crypto";
import { once } from "node:events";
import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";

/** Lines `chunk 1`, `chunk 2`, ...; the last one is `end N sha256=<of every byte before it>`. */
export async function streamChunks(res: ServerResponse, chunks: number, intervalMs: number): Promise<void> {
  res.writeHead(200, { "content-type": "text/plain" });
  const hash = createHash("sha256");
  for (let n = 1; n <= chunks && !res.destroyed; n += 1) {
    const line = `chunk ${n}\n`;
    hash.update(line);
    if (!res.write(line)) await Promise.race([once(res, "drain"), once(res, "close")]);
    await sleep(intervalMs);
  }
  res.end(`end ${chunks} sha256=${hash.digest("hex")}\n`);
}

/**
 * Events without an end, until the client leaves or, where the build knows of it, the service stops. They go on behind
 * the last one that the client has, whichever copy sent it: a client that reconnects misses none.
 */
export async function streamEvents(
  res: ServerResponse,
  intervalMs: number,
  stopping: AbortSignal | undefined,
  lastEventId = 0,
): Promise<void> {
  res.writeHead(200, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    // nginx would hold events back until a buffer is full.
    "x-accel-buffering": "no",
  });
  const over = new AbortController();
  const end = (): void => over.abort();
  res.once("close", end);
  stopping?.addEventListener("abort", end, { once: true });
  if (stopping?.aborted === true) end();
  try {
    for (let n = lastEventId + 1; ; n += 1) {
      res.write(`id: ${n}\ndata: ${n}\n\n`);
      await sleep(intervalMs, undefined, { signal: over.signal });
    }
  } catch (error) {
    if (!over.signal.aborted) throw error;
  } finally {
    stopping?.removeEventListener("abort", end);
  }
  res.end("event: end\ndata: the service restarts, connect again\n\n");
}
