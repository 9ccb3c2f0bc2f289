/** Every number by which the verdict decides, in one place. */

export const THRESHOLDS: {
  /** An answer with this status or above says no. */
  readonly failedFromStatus: number;
  /** The classic table's slow column. */
  readonly slowAbsoluteMs: number;
  /** R1: slower than the baseline's p99.9 by this much. */
  readonly slowOverBaselineMs: number;
  /** A connection that took this long was tried again: the kernel repeats a lost SYN after 1 s. */
  readonly connectRetryMs: number;
  /** A load engine whose dispatch lag has a p99 above this measures itself: the run is invalid. */
  readonly dispatchLagP99Ms: number;
  /** Timers of the lab at the copies' own priority that are later than this mean copies that could not get at a processor. */
  readonly stallP95Ms: number;
  readonly stallMaxMs: number;
  /** A router that lets go of a copy this much later than the plan says has a lag that nobody asked for. */
  readonly removalLateMs: number;
  /** How far apart the end of a request and the line of a router's log about it may be; nginx logs whole seconds. */
  readonly routerLogJoinMs: number;
  /** How far the end of a cut request may be from the exit of its copy as the lab saw it. */
  readonly exitJitterMs: number;
  /** A failure this soon after its dispatch found a connection that was closing: no handler worked on it. */
  readonly instantMs: number;
  /** Or within this share of the quickest good answer of the run, where that is more, */
  readonly instantShare: number;
  /** and never more than this. */
  readonly instantMaxMs: number;
  /** How long after a reload of the router a dropped client connection is charged to it. */
  readonly reloadWindowMs: number;
  /** How long a copy counts as cold after it was ready. */
  readonly coldCopyMs: number;
  /** How long after a restart's last event a bad request still belongs to it. */
  readonly restartSlackMs: number;
  /** Idle connections that die within this of each other were closed by one hand. */
  readonly burstMs: number;
  /** A readiness that says 200 for so long after the stop signal does not turn. */
  readonly readinessTurnsMs: number;
  /** How long after its removal a copy may still get a request that was on its way. */
  readonly removalSlackMs: number;
  /** A ready copy in the router's list that got nothing for so long is held out by it. */
  readonly noShareMs: number;
  /** A worker that fell silent and one that began to answer within this of a cut have taken turns. */
  readonly workerTurnMs: number;
  /** Worked examples kept for each kind. */
  readonly examples: number;
} = {
  failedFromStatus: 400,
  slowAbsoluteMs: 1500,
  slowOverBaselineMs: 1000,
  connectRetryMs: 900,
  dispatchLagP99Ms: 100,
  stallP95Ms: 150,
  stallMaxMs: 750,
  removalLateMs: 500,
  routerLogJoinMs: 1500,
  exitJitterMs: 100,
  instantMs: 20,
  instantShare: 0.25,
  instantMaxMs: 100,
  reloadWindowMs: 2000,
  coldCopyMs: 10_000,
  restartSlackMs: 1000,
  burstMs: 10,
  readinessTurnsMs: 300,
  removalSlackMs: 1000,
  noShareMs: 2000,
  workerTurnMs: 2000,
  examples: 3,
};
