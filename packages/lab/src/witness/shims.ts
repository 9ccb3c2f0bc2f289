/** The shims of a run as the lab sees them: started in front of each copy, told when it leaves, asked at the end what they saw. */

import { Worker } from "node:worker_threads";
import { LabError } from "../errors.ts";
import type { RunClock } from "../ledger/clock.ts";
import type { WitnessRecord } from "../ledger/records.ts";
import type { FromShims, ToShims } from "./shim-thread.ts";

export interface Shims {
  start(copy: string, port: number, to: number): Promise<void>;
  leaving(copy: string): void;
  /** Closes what is left in front of the copy, and says so to those who wait there. */
  end(copy: string): Promise<void>;
  records(): readonly WitnessRecord[];
  stop(): Promise<void>;
}

type Unnumbered<T> = T extends unknown ? Omit<T, "ticket"> : never;

export function startShims(clock: RunClock): Shims {
  const worker = new Worker(new URL("./shim-thread.js", import.meta.url), {
    workerData: { clockBaseMs: clock.baseMs },
    name: "shims",
  });
  const records: WitnessRecord[] = [];
  const waiting = new Map<number, (error: string | null) => void>();
  let tickets = 0;
  let ended = false;
  const end = (reason: string): void => {
    ended = true;
    for (const answer of waiting.values()) {
      answer(reason);
    }
    waiting.clear();
  };
  worker.on("message", (message: FromShims) => {
    if (message.kind === "record") {
      records.push(message.record);
    } else {
      waiting.get(message.ticket)?.(message.error);
      waiting.delete(message.ticket);
    }
  });
  worker.once("error", (error) => end(error.message));
  worker.once("exit", () => end("its thread has ended"));

  const ask = (message: Unnumbered<ToShims>): Promise<void> =>
    new Promise((resolve, reject) => {
      tickets += 1;
      const answer = (error: string | null): void => {
        if (error === null) {
          resolve();
        } else {
          reject(
            new LabError(
              "LAB_WITNESS",
              `The shim in front of copy ${message.copy} failed: ${error}.`,
              "Run again; if it happens again, use --witness import or none.",
            ),
          );
        }
      };
      if (ended) {
        answer("its thread has ended");
        return;
      }
      waiting.set(tickets, answer);
      worker.postMessage({ ...message, ticket: tickets }, []);
    });

  return {
    start: (copy, port, to) => ask({ kind: "start", copy, port, to }),
    // A shim that cannot hear it watches nothing, and refuses no earlier than by its first closed door.
    leaving: (copy) => void ask({ kind: "leaving", copy }).catch(() => undefined),
    end: (copy) => ask({ kind: "close", copy }),
    records: () => records,
    stop: async () => {
      await worker.terminate();
    },
  };
}
