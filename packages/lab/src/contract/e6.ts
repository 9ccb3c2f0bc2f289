/** E6: the record survives the ways in which a process loses its last words. (The watchdog's cut is C4's.) */

import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing } from "./court.ts";
import { putInFlight, roundTrip } from "./moves.ts";
import { findRecords } from "./record.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "record", "settings.drainDelay", "settings.recordFile"];

async function judgeClosedStderr(court: Hearing, folder: string): Promise<void> {
  const recordFile = path.join(folder, "records.ndjson");
  for (const turn of [1, 2]) {
    // The second copy appends to the first one's file.
    const copy = await court.start({ set: { drainDelay: 0, recordFile } });
    await roundTrip(court, copy);
    copy.closeStderr();
    copy.signal();
    const exit = await court.exit(copy, 4000, "Ignore EPIPE on stderr while writing the record.");
    court.demand(
      exit.code === court.subject.exitCodes.clean,
      `${exitInWords(exit)} when stderr was closed.`,
      {
        todo: "Ignore EPIPE on stderr: a log collector that has gone away is no reason to fail.",
      },
    );
    const text = await readFile(recordFile, "utf8").catch(() => "");
    const records = findRecords(text.split("\n"));
    court.demand(
      records.length === turn,
      `The record file holds ${records.length} records after ${turn} stops with stderr closed.`,
      {
        todo: "Append the record to `recordFile` as well, on its own.",
      },
    );
  }
}

async function judgePipe(court: Hearing): Promise<void> {
  const mode = court.subject.modes.hookTalks;
  if (mode === undefined) {
    return;
  }
  const copy = await court.start({ set: { drainDelay: 0 }, mode });
  await roundTrip(court, copy);
  copy.signal();
  // Longer than anybody should wait for a reader.
  await copy.leaveStderr(400);
  const exit = await court.exit(
    copy,
    5000,
    "Wait a bounded time for the output that is queued before the record.",
  );
  const record = court.record(copy);
  court.demand(
    record.exitCode === exit.code,
    "The record that came behind a megabyte of output is not the exit's.",
    {
      todo: "Write the record with a loop that survives EAGAIN, after the output that is queued.",
    },
  );
}

async function judgeOwnExit(court: Hearing): Promise<void> {
  if (court.subject.routes.exit === undefined) {
    return;
  }
  const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: 3000 } });
  if (court.subject.routes.slow !== undefined) {
    await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
  }
  const wire = await copy.open();
  await roundTrip(court, copy);
  copy.signal();
  // Within the linger window, so that the app's own exit falls into the drain.
  wire.request(court.target("exit"));
  const exit = await court.exit(copy, 4000, "Let the app end the process if it wants to.");
  const todo = "Write the record from the `exit` event when the app ends the process itself: endedBy app.";
  const record = court.record(copy);
  court.demand(
    record.endedBy === "app" && record.exitCode === 7 && exit.code === 7,
    `The app ended the process with 7; the record says ended by ${record.endedBy}, exit code ${record.exitCode}; the process left with ${String(exit.code)}.`,
    { todo },
  );
}

export const clause: Clause = {
  id: "E6",
  level: "honest",
  title: "the record survives a pipe, a closed stderr, and an app that ends the process itself",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const folder = await mkdtemp(path.join(tmpdir(), "lastcall-e6-"));
      try {
        await judgeClosedStderr(court, folder);
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
      await judgePipe(court);
      await judgeOwnExit(court);
    }),
};
