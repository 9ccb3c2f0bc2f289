/** The classic experiments, in the order in which they are best read. */

import { afterResponseExperiment } from "./after-response.ts";
import { drainExperiment } from "./drain.ts";
import type { Experiment } from "./experiment.ts";
import { inDoubtExperiment } from "./in-doubt.ts";
import { pid1Experiment } from "./pid1.ts";
import { proxyExperiment } from "./proxy.ts";
import { rolloutExperiment } from "./rollout.ts";
import { signalExperiment } from "./signal.ts";
import { sixExperiment } from "./six.ts";
import { stuckExperiment } from "./stuck.ts";

export const EXPERIMENTS: readonly Experiment[] = [
  signalExperiment,
  stuckExperiment,
  afterResponseExperiment,
  sixExperiment,
  proxyExperiment,
  pid1Experiment,
  drainExperiment,
  rolloutExperiment,
  inDoubtExperiment,
];
