/** The lifecycle's own events, written to the events file in the words of this service. */

import type { Lifecycle } from "lastcall";
import type { Note } from "../lines.ts";
import type { CountedTrack } from "../tracking.ts";

export function noteLifecycle(life: Lifecycle, tasks: CountedTrack["counts"], note: Note): void {
  life.events.on("signal", ({ signal, effect }) => note("signal", { signal, effect }));
  life.events.on("state", ({ to, atMs }) => {
    if (to === "lame-duck") note("lame duck", { atMs });
    if (to === "draining") note("gate", { atMs });
    if (to === "teardown") {
      note("drained", { atMs, trackedTasks: tasks.begun });
      if (tasks.running > 0) note("abandoned", { tasks: tasks.running });
      note("teardown begins", { atMs });
    }
  });
  life.events.on("expired", () => note("deadline expired"));
  life.events.on("record", ({ outcome, exitCode, requests, tasks: fates }) =>
    note("record", { outcome, exitCode, requests, tasks: fates }),
  );
}
