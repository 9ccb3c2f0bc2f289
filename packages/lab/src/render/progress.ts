/** The live view of a run: one updating line on a terminal, a few plain lines elsewhere. */

import type { LedgerRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";

export interface Progress {
  /** A record of the run as it happens. */
  see(record: LedgerRecord): void;
  end(): void;
}

const EVERY_MS = 100;

/** What of the timeline a person follows. */
export function lineOf(record: LedgerRecord): string | null {
  if (record.kind !== "event") {
    return null;
  }
  const copy = record.copy ?? "";
  switch (record.event) {
    case "load-started":
      return "load runs";
    case "signal":
      return `${copy} gets ${String(record.detail["signal"])}`;
    case "killed":
      return `${copy} does not stop: SIGKILL`;
    case "exited":
      return `${copy} has ended`;
    case "removed":
      return `${copy} is out of rotation`;
    case "added":
      return `${copy} is in rotation`;
    case "ready":
      return `${copy} is ready`;
    default:
      return null;
  }
}

export function startProgress(
  plan: RolloutPlan,
  terminal: boolean,
  write: (text: string) => void,
  nowMs: () => number,
): Progress {
  const name = plan.scenario.padEnd(13);
  if (!terminal) {
    write(
      `${name} ${plan.title}: ${plan.copies * plan.repeat} restarts at ${plan.ratePerSecond} requests/s\n`,
    );
    return { see: () => undefined, end: () => undefined };
  }
  const beganMs = nowMs();
  let finished = 0;
  let failed = 0;
  let restarts = 0;
  let last = "copies start";
  let shownMs = Number.NEGATIVE_INFINITY;
  const draw = (): void => {
    const clock = `${((nowMs() - beganMs) / 1000).toFixed(1)} s`.padStart(7);
    const text = `${name}${clock}  ${finished} requests, ${failed} failed  restart ${restarts} of ${plan.copies * plan.repeat}  ${last}`;
    write(`\r\u001B[2K${text.slice(0, 99)}`);
    shownMs = nowMs();
  };
  return {
    see: (record) => {
      if (record.kind === "request") {
        finished += 1;
        failed += record.fate === "failed" || (record.status ?? 0) >= 400 ? 1 : 0;
      }
      if (record.kind === "event" && record.event === "signal") {
        restarts += 1;
      }
      last = lineOf(record) ?? last;
      if (nowMs() - shownMs >= EVERY_MS) {
        draw();
      }
    },
    end: () => write("\r\u001B[2K"),
  };
}
