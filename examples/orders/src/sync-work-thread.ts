/** The thread of `sync-work.ts`: blocks for the given time, notes that it has really finished, and ends. */

import { workerData } from "node:worker_threads";
import { openEvents } from "./lines.ts";

const { ms, eventsFile } = workerData as { readonly ms: number; readonly eventsFile: string | undefined };
// Blocks without burning a core; nothing outside can wake it.
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
openEvents(eventsFile)("sync work finished", { ms });
