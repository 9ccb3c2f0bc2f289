/** Work on a thread that cannot be cancelled, as a blocking handler in a thread pool is: it ends when it ends. */

import { Worker } from "node:worker_threads";

/** Resolves when the thread is through. The thread itself notes its end in the events file, if there is one. */
export function syncWork(ms: number, eventsFile: string | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    new Worker(new URL("./sync-work-thread.js", import.meta.url), { workerData: { ms, eventsFile } })
      .once("exit", () => resolve())
      .once("error", reject);
  });
}
