/** B11: several doors, one drain; the admin port is the last one to close. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, roundTrip, untilRefused } from "./moves.ts";
import { openWire } from "./open-wire.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "routes.live",
  "adminPort",
  "unixSocket",
  "settings.drainDelay",
];

async function judgeDoors(court: Hearing, folder: string): Promise<void> {
  const socket = path.join(folder, "service.sock");
  const mode = court.subject.modes.hookSlow;
  const copy = await court.start({
    set: { drainDelay: 0 },
    admin: true,
    unixSocket: socket,
    ...(mode === undefined ? {} : { mode }),
  });
  const todo = "Drain every server of the process in one drain, and close the admin port after teardown.";
  const local = await openWire({ kind: "unix", path: socket });
  local.request(court.target("slow", { seconds: 1.2, id: "local" }));
  const open = await putInFlight(court, copy, court.target("slow", { seconds: 0.6, id: "public" }));
  await roundTrip(court, copy);
  copy.signal();
  await untilRefused(copy, 3000);
  const second = await openWire({ kind: "unix", path: socket }).catch(() => null);
  court.demand(second === null, "The unix socket still accepted when the public port refused.", {
    todo,
    wire: second,
  });
  court.onTime(copy, 500);
  for (const wire of [open, local]) {
    const probe = await copy.ask(court.target("live"), "admin");
    court.demandAnswer(probe, [200], "Liveness on the admin port while draining", { todo, wire: probe.wire });
    court.demandAnswer(await wire.answer(), [200], "A request in flight", { todo, wire });
  }
  if (mode !== undefined && court.subject.says.teardown !== undefined) {
    const begun = await copy.line(court.saying("teardown", { name: "second" }));
    const probe = await copy.ask(court.target("live"), "admin");
    court.onTime(copy, sinceT0(copy, begun?.atMs ?? 0) + 350);
    court.demandAnswer(probe, [200], "Liveness on the admin port in teardown", { todo, wire: probe.wire });
  }
  await court.exit(copy, 3000, todo);
  if (court.subject.record) {
    const { completed } = court.record(copy).requests;
    // Two held and two round trips; probes do not count.
    court.demand(completed === 4, `The one record counts ${completed} requests of 4 over both servers.`, {
      todo,
    });
  }
}

export const clause: Clause = {
  id: "B11",
  level: "core",
  title: "several servers in one process are one drain, and the admin port closes last",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const folder = await mkdtemp(path.join(tmpdir(), "lastcall-b11-"));
      try {
        await judgeDoors(court, folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }),
};
