/** The thread in which all shims of a run stand, so that neither the lab nor the load engine slows them. */

import { parentPort, workerData } from "node:worker_threads";
import { startRunClock } from "../ledger/clock.ts";
import type { WitnessRecord } from "../ledger/records.ts";
import { raisePriority } from "../priority.ts";
import { startShim, type Shim } from "./shim.ts";

/** Each is answered with its ticket. */
export type ToShims =
  | {
      readonly kind: "start";
      readonly ticket: number;
      readonly copy: string;
      readonly port: number;
      readonly to: number;
    }
  | { readonly kind: "leaving"; readonly ticket: number; readonly copy: string }
  | { readonly kind: "close"; readonly ticket: number; readonly copy: string };

export type FromShims =
  | { readonly kind: "done"; readonly ticket: number; readonly error: string | null }
  | { readonly kind: "record"; readonly record: WitnessRecord };

const port = parentPort;
if (port !== null) {
  raisePriority();
  const clock = startRunClock((workerData as { readonly clockBaseMs: number }).clockBaseMs);
  const shims = new Map<string, Shim>();
  const say = (message: FromShims): void => port.postMessage(message);
  const obey = async (message: ToShims): Promise<void> => {
    if (message.kind === "start") {
      const { copy, port: at, to } = message;
      const shim = await startShim({
        copy,
        port: at,
        to,
        now: () => clock.now(),
        onRecord: (record) => say({ kind: "record", record }),
      });
      shims.set(copy, shim);
    } else {
      await shims.get(message.copy)?.[message.kind]();
    }
  };
  port.on("message", (message: ToShims) => {
    obey(message).then(
      () => say({ kind: "done", ticket: message.ticket, error: null }),
      (error: unknown) => say({ kind: "done", ticket: message.ticket, error: String(error) }),
    );
  });
}
