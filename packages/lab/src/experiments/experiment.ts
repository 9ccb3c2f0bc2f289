/**
 * What an experiment is: it plays something on a stage, tells it as it happens, and is judged by what was measured. The
 * judgement is a pure function of the facts, so that it can be shown a run that must not pass.
 */

import type { Judgement } from "./judgement.ts";
import type { Stage } from "./stage.ts";

export interface Experiment {
  readonly name: string;
  /** One line for the list. */
  readonly summary: string;
  /** What it is about and what to look for: said before it begins. */
  readonly question: string;
  /** About how long it plays, in seconds. */
  readonly lastsS: number;
  /** Facts are plain data, for `--json`. */
  play(stage: Stage): Promise<{ readonly facts: unknown; readonly judgement: Judgement }>;
}
