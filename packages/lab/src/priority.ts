/** Lets the calling thread go before others where the system allows it: what is late here is blamed on the service. */

import { setPriority } from "node:os";

const ABOVE_NORMAL = -10;

/** On Linux a priority belongs to a thread, so copies that another thread starts keep theirs. */
export function raisePriority(): void {
  if (process.platform !== "linux") {
    return; // Elsewhere it would be the whole process, and every child of it.
  }
  try {
    setPriority(0, ABOVE_NORMAL);
  } catch {
    // Needs CAP_SYS_NICE. Without it the dispatch lag tells whether the machine was too busy.
  }
}
