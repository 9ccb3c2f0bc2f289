/** The live view of a run: a screen that is drawn again and again on a terminal, one plain line elsewhere. */

import type { LedgerRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { createScreen } from "./screen.ts";
import type { Style } from "./style.ts";

export interface Progress {
  /** A record of the run as it happens. */
  see(record: LedgerRecord): void;
  /** Draws the last screen and leaves it. */
  end(): void;
}

/** What the view needs of a terminal; null where there is none, or one that cannot move its cursor. */
export interface Terminal {
  readonly columns: () => number;
  readonly style: Style;
}

/** Five times a second: faster than that nobody reads, and a drawing costs a millisecond. */
const EVERY_MS = 200;

export function startProgress(
  plan: RolloutPlan,
  terminal: Terminal | null,
  write: (text: string) => void,
  nowMs: () => number,
): Progress {
  if (terminal === null) {
    write(
      `${plan.scenario.padEnd(13)} ${plan.title}: ${plan.copies * plan.repeat} restarts at ${plan.ratePerSecond} requests/s\n`,
    );
    return { see: () => undefined, end: () => undefined };
  }
  const screen = createScreen(plan, terminal.style);
  const beganMs = nowMs();
  let shownMs = Number.NEGATIVE_INFINITY;
  let height = 0;
  const draw = (): void => {
    const lines = screen.lines(terminal.columns(), nowMs() - beganMs);
    // One write, so that no half of a screen is seen; lines that are left over from a taller one are wiped.
    const up = height > 0 ? `\u001B[${height}A\r` : "\r";
    write(`${up}\u001B[J${lines.join("\n")}\n`);
    height = lines.length;
    shownMs = nowMs();
  };
  return {
    see: (record) => {
      screen.see(record);
      if (nowMs() - shownMs >= EVERY_MS) {
        draw();
      }
    },
    end: draw,
  };
}
