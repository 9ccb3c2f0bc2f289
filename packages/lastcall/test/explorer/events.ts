/** What can happen to a life, by name. Each is enabled only where the world allows it; bounds keep the walk finite. */

import type { World } from "./world.ts";

export interface Happening {
  readonly enabled: (world: World) => boolean;
  readonly run: (world: World) => void | Promise<void>;
}

const MOST = 2;
const always = (): boolean => true;

async function advance(world: World, ms: number): Promise<void> {
  await world.host.advance(ms);
  world.late = false;
}

const slowTask = (world: World) => world.openTasks().find((task) => task.kind !== "gives up");
const slowHook = (world: World) =>
  world.hooksRun.find((hook) => hook.kind === "slow" && hook.settled === null);
const openHandler = (world: World) =>
  world.asked.find((one) => one.ran && !one.isProbe && !one.handlerSettled);
const openResponse = (world: World) =>
  world.asked.find((one) => one.ran && !one.isProbe && !one.response.isClosed);
const canHook = (world: World): boolean =>
  world.life.state !== "stopped" && world.hookStack.length + world.hooksRun.length < MOST;
const canTask = (world: World): boolean => world.openTasks().length < MOST;
const canAsk = (world: World): boolean =>
  world.inFlight().length < MOST &&
  (world.server.idle().length > 0 || (world.server.listening && world.server.sockets.size < MOST));

export const HAPPENINGS: Readonly<Record<string, Happening>> = {
  SIGTERM: { enabled: always, run: (world) => world.signal("SIGTERM") },
  SIGINT: { enabled: always, run: (world) => world.signal("SIGINT") },
  "100 ms pass": { enabled: always, run: (world) => advance(world, 100) },
  "200 ms pass": { enabled: always, run: (world) => advance(world, 200) },
  "the next timer": {
    enabled: (world) => world.host.untilNext() !== null,
    run: (world) => advance(world, world.host.untilNext() ?? 0),
  },
  "the loop is blocked": {
    enabled: (world) => world.stalledMs < 900,
    run: (world) => {
      world.host.stall(450);
      world.stalledMs += 450;
      world.late = true;
    },
  },
  "the clock jumps": {
    enabled: always,
    run: (world) => world.host.jumpClock(-3_600_000),
  },
  "ready()": { enabled: always, run: (world) => world.life.ready() },
  "shutdown()": { enabled: always, run: (world) => world.begin("shutdown") },
  "the loop is empty": {
    // What is open holds the loop; a handler that nobody settles does not.
    enabled: (world) => world.server.sockets.size === 0,
    run: (world) => world.begin("empty-loop"),
  },
  "an uncaught error": {
    enabled: (world) => world.uncaught < MOST,
    run: (world) => world.throwUncaught(),
  },
  "the app exits": { enabled: always, run: (world) => world.exitByApp(7) },
  "a connection": {
    enabled: (world) => world.server.listening && world.server.sockets.size < MOST,
    run: (world) => void world.server.open(),
  },
  "a request": { enabled: canAsk, run: (world) => world.ask("/work") },
  "a probe": { enabled: canAsk, run: (world) => world.ask("/readyz") },
  "a head is sent": {
    enabled: (world) => openResponse(world)?.response.headersSent === false,
    run: (world) => void openResponse(world)?.response.writeHead(200),
  },
  "a response ends": {
    enabled: (world) => openResponse(world) !== undefined,
    run: (world) => void openResponse(world)?.response.end(),
  },
  "a handler settles": {
    enabled: (world) => world.setup.options.boundary === "handler" && openHandler(world) !== undefined,
    run: (world) => openHandler(world)?.settleHandler(),
  },
  "a client leaves": {
    enabled: (world) => world.server.sockets.size > 0,
    run: (world) => void [...world.server.sockets][0]?.destroy(),
  },
  "a task": { enabled: canTask, run: (world) => world.startTask("abort") },
  "a task to be abandoned": { enabled: canTask, run: (world) => world.startTask("abandon") },
  "a task that gives up": { enabled: canTask, run: (world) => world.startTask("gives up") },
  "a task ends": {
    enabled: (world) => slowTask(world) !== undefined,
    run: (world) => slowTask(world)?.resolve(),
  },
  "a task fails": {
    enabled: (world) => slowTask(world) !== undefined,
    run: (world) => slowTask(world)?.reject(new Error("planned")),
  },
  "a hook": { enabled: canHook, run: (world) => world.addHook("returns") },
  "a hook that hangs": { enabled: canHook, run: (world) => world.addHook("hangs") },
  "a hook that throws": { enabled: canHook, run: (world) => world.addHook("throws") },
  "a slow hook": { enabled: canHook, run: (world) => world.addHook("slow") },
  "a slow hook settles": {
    enabled: (world) => slowHook(world) !== undefined,
    run: (world) => slowHook(world)?.settle(),
  },
};

export const EVENT_NAMES: readonly string[] = Object.keys(HAPPENINGS);

export function whatCanHappen(world: World): readonly string[] {
  return world.over ? [] : EVENT_NAMES.filter((name) => HAPPENINGS[name]?.enabled(world));
}

/** Lets `name` happen, where it can. */
export async function happen(world: World, name: string): Promise<void> {
  const happening = HAPPENINGS[name];
  if (happening === undefined) {
    throw new Error(`There is no event '${name}'.`);
  }
  if (world.over || !happening.enabled(world)) {
    return;
  }
  world.hurried = false;
  await happening.run(world);
  await world.host.settle();
}
