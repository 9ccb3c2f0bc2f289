/**
 * The life of a service as one total table: state by event. `transition` is pure; the effects are names, carried out in
 * `lifecycle.ts`. A cell where nothing happens is written out. The diagram in docs/architecture.md is printed from it.
 */

export type State = "starting" | "serving" | "lame-duck" | "draining" | "teardown" | "stopped";

export type LifeEvent =
  /** The app said `ready()`. */
  | "ready"
  /** The first stop signal, or `shutdown()`. */
  | "stop"
  /** A further stop signal other than SIGINT, after 200 ms of silence. */
  | "hurry"
  /** A further SIGINT, after 200 ms of silence. */
  | "force"
  /** The drain delay is over. */
  | "delay-over"
  /** Nothing is in flight, no tracked work runs, no connection is open. */
  | "drained"
  /** The deadline has come. */
  | "deadline"
  /** An uncaught error after the stop began. */
  | "crash"
  /** The event loop has nothing left to do. */
  | "empty-loop"
  /** Every hook has settled or the teardown timeout is over. */
  | "torn-down";

export type Effect =
  /** t0: compute the deadline, abort `life.signal`, take the servers' side of the leave order. */
  | "begin"
  /** Start the timer of the drain delay. */
  | "start-delay"
  /** Close the gate: new work is refused, old connections linger. */
  | "close-gate"
  /** The deadline is now at the latest: fire the abort signals, cut what is unfinished. */
  | "cut"
  /** Run the hooks, last registered first. */
  | "tear-down"
  /** Write the record and exit. */
  | "finish"
  /** The stop was not completed as asked: exit code 3. */
  | "mark-forced";

export interface Step {
  readonly to: State;
  readonly effects: readonly Effect[];
}

function go(to: State, ...effects: readonly Effect[]): Step {
  return { to, effects };
}

/** Nothing changes. The signal or event is still recorded by its sender. */
function stay(state: State, ...effects: readonly Effect[]): Step {
  return { to: state, effects };
}

export const MACHINE: Readonly<Record<State, Readonly<Record<LifeEvent, Step>>>> = {
  starting: {
    ready: go("serving"),
    // Start-up is cancelled: no router knows us yet, so there is no delay.
    stop: go("draining", "begin", "close-gate"),
    hurry: stay("starting"),
    force: stay("starting"),
    "delay-over": stay("starting"),
    drained: stay("starting"),
    deadline: stay("starting"),
    crash: stay("starting"),
    "empty-loop": go("teardown", "begin", "tear-down"),
    "torn-down": stay("starting"),
  },
  serving: {
    ready: stay("serving"),
    stop: go("lame-duck", "begin", "start-delay"),
    hurry: stay("serving"),
    force: stay("serving"),
    "delay-over": stay("serving"),
    drained: stay("serving"),
    deadline: stay("serving"),
    crash: stay("serving"),
    "empty-loop": go("teardown", "begin", "tear-down"),
    "torn-down": stay("serving"),
  },
  "lame-duck": {
    ready: stay("lame-duck"),
    stop: stay("lame-duck"),
    hurry: go("draining", "close-gate"),
    force: go("draining", "close-gate"),
    "delay-over": go("draining", "close-gate"),
    drained: stay("lame-duck"),
    deadline: go("teardown", "cut", "tear-down"),
    crash: go("teardown", "cut", "tear-down"),
    "empty-loop": stay("lame-duck"),
    "torn-down": stay("lame-duck"),
  },
  draining: {
    ready: stay("draining"),
    stop: stay("draining"),
    hurry: stay("draining"),
    force: go("teardown", "mark-forced", "cut", "tear-down"),
    "delay-over": stay("draining"),
    drained: go("teardown", "tear-down"),
    deadline: go("teardown", "cut", "tear-down"),
    crash: go("teardown", "cut", "tear-down"),
    "empty-loop": stay("draining"),
    "torn-down": stay("draining"),
  },
  teardown: {
    ready: stay("teardown"),
    stop: stay("teardown"),
    hurry: stay("teardown"),
    force: stay("teardown", "mark-forced"),
    "delay-over": stay("teardown"),
    drained: stay("teardown"),
    deadline: stay("teardown"),
    crash: stay("teardown"),
    "empty-loop": stay("teardown"),
    "torn-down": go("stopped", "finish"),
  },
  stopped: {
    ready: stay("stopped"),
    stop: stay("stopped"),
    hurry: stay("stopped"),
    force: stay("stopped"),
    "delay-over": stay("stopped"),
    drained: stay("stopped"),
    deadline: stay("stopped"),
    crash: stay("stopped"),
    "empty-loop": stay("stopped"),
    "torn-down": stay("stopped"),
  },
};

/** What `event` does in `state`. Total and pure. */
export function transition(state: State, event: LifeEvent): Step {
  return MACHINE[state][event];
}

/** Whether readiness answers 200. */
export function isReady(state: State, inLameDuck: "fail" | "keep"): boolean {
  return state === "serving" || (state === "lame-duck" && inLameDuck === "keep");
}

/** The table as a Mermaid state diagram: only the cells that change the state. */
export function diagram(): string {
  const lines = ["stateDiagram-v2", "  [*] --> starting"];
  for (const [from, row] of Object.entries(MACHINE)) {
    const byTarget = new Map<State, string[]>();
    for (const [event, step] of Object.entries(row)) {
      if (step.to !== from) {
        byTarget.set(step.to, [...(byTarget.get(step.to) ?? []), event]);
      }
    }
    for (const [to, events] of byTarget) {
      lines.push(`  ${from} --> ${to}: ${events.join(", ")}`.replaceAll("lame-duck -->", "lame_duck -->"));
    }
  }
  return [
    ...lines.map((line) => line.replaceAll("--> lame-duck", "--> lame_duck")),
    "  stopped --> [*]",
  ].join("\n");
}
