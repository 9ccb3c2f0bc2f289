/** Everything that decides what can follow, as one text. Counts that the code only adds to are left out. */

import { SILENCE_MS } from "../../src/signals.ts";
import type { World } from "./world.ts";

export function fingerprint(world: World): string {
  const { host, life, server } = world;
  if (world.over) {
    return "over";
  }
  const now = host.now();
  const since = (at: number | null): number | null => (at === null ? null : now - at);
  const responses = world.asked
    .filter((one) => !world.isDone(one))
    .map(({ isProbe, ran, response, handlerSettled }) => [
      isProbe,
      ran,
      handlerSettled,
      response.headersSent,
      response.isClosed,
      response.announced,
    ]);
  return JSON.stringify([
    life.state,
    life.remainingMs(),
    Math.max(0, SILENCE_MS - (now - world.lastSignalAt)),
    [...host.timers].map(({ at, name }) => [at - now, name]),
    [...server.sockets].map((socket) => [socket.bytesRead > 0, socket._httpMessage === null]),
    responses,
    server.listening,
    world.asked.some(({ isProbe, ran }) => isProbe && ran),
    world.openTasks().map(({ kind, signal }) => [kind, signal?.aborted]),
    world.hookStack.map(({ kind }) => kind),
    world.hooksRun.map(({ kind, settled, outcome }) => [kind, settled, outcome]),
    // What the record will say, as far as it is more than a sum.
    world.reason,
    world.signalName,
    Math.min(2, world.emptied),
    world.forced,
    world.failed,
    world.cutShort,
    world.nearDeadline,
    world.late,
    world.stalledMs,
    world.uncaught,
    since(world.t0),
    since(world.drainingAt),
    since(world.teardownAt),
    (world.fates?.unfinished ?? 0) > 0,
    world.tasks.some(({ end }) => end === "gave up"),
    (world.fates?.tasks.aborted ?? 0) + (world.fates?.tasks.abandoned ?? 0) > 0,
  ]);
}
