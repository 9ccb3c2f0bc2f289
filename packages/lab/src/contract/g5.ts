/** G5: a unix socket's file goes with its service, unless it is somebody else's by then. */

import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { type Server, createServer } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { roundTrip } from "./moves.ts";
import { openWire } from "./open-wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "unixSocket", "settings.drainDelay"];

function listen(server: Server, where: string): Promise<void> {
  return new Promise((resolve) => {
    server.listen(where, resolve);
  });
}

async function judgeOwn(court: Hearing, socket: string): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0 }, unixSocket: socket });
  const wire = await openWire({ kind: "unix", path: socket });
  wire.request(court.target("ordinary", { id: "local" }));
  if ((await wire.answer()).status !== 200) {
    court.leave("The unix socket did not answer before the stop signal.");
  }
  copy.signal();
  await court.exit(copy, 4000, "Exit when nothing is in flight.");
  court.demand(!existsSync(socket), "The unix socket's file was still there after the exit.", {
    todo: "Remove the socket's file when its listener closes.",
    wire,
  });
}

async function judgeForeign(court: Hearing, socket: string): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 800 }, unixSocket: socket });
  await roundTrip(court, copy);
  copy.signal();
  // The next copy takes the path while the old one is in its drain delay.
  await rm(socket, { force: true });
  court.onTime(copy, 700);
  const next = createServer((peer) => peer.end());
  await listen(next, socket);
  try {
    await court.exit(copy, 4000, "Exit when nothing is in flight.");
    court.demand(existsSync(socket), "The file of the next copy's socket was removed by the old one.", {
      todo: "Remove the socket's file only if it is still the one that was made here (compare the inode).",
    });
  } finally {
    await new Promise((resolve) => {
      next.close(resolve);
    });
  }
}

/** A listening unix socket as a supervisor makes it: a descriptor to pass on, nothing accepted here. */
async function judgeInherited(court: Hearing, socket: string): Promise<void> {
  const mode = court.subject.modes.inherited;
  const supervisor = createServer();
  await listen(supervisor, socket);
  const fd = (supervisor as unknown as { readonly _handle?: { readonly fd?: number } })._handle?.fd;
  try {
    if (mode === undefined || fd === undefined || fd < 0) {
      court.measure("inherited", "not judged");
      return;
    }
    const copy = await court.start({ set: { drainDelay: 0 }, mode, inherit: fd });
    copy.signal();
    await court.exit(copy, 4000, "Exit when nothing is in flight.");
    const left = existsSync(socket);
    court.measure("inherited", left ? "left open" : "removed");
    court.demand(left, "The file of a socket inherited from a supervisor was removed.", {
      todo: "Leave a socket that was inherited to the supervisor: the next process gets the same one.",
    });
  } finally {
    await new Promise((resolve) => {
      supervisor.close(resolve);
    });
  }
}

export const clause: Clause = {
  id: "G5",
  level: "process",
  title: "a unix socket's file is gone after exit if it is still ours, and an inherited socket is left open",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const folder = await mkdtemp(path.join(tmpdir(), "lastcall-g5-"));
      try {
        await judgeOwn(court, path.join(folder, "own.sock"));
        await judgeForeign(court, path.join(folder, "foreign.sock"));
        await judgeInherited(court, path.join(folder, "inherited.sock"));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }),
};
