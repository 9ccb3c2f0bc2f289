/** G6: systemd believes what a unit of Type=notify says, and signals the main process alone or everybody at once. */

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { Clause, Need } from "./clause.ts";
import { exitInWords } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";
import { type NotifySocket, bindNotifySocket } from "./notify-socket.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "routes.slow", "modes.systemd", "settings.drainDelay"];
const GRACE_PERIOD_MS = 20_000;
/** The message goes out by a helper of its own in some languages. */
const TOLD_WITHIN_MS = 2000;

/** `mixed` signals the main process alone; `control-group` signals everybody. */
async function judgeKillMode(
  court: Hearing,
  socket: NotifySocket,
  killMode: "mixed" | "control-group",
): Promise<void> {
  const copy = await court.start({
    set: { gracePeriod: GRACE_PERIOD_MS, drainDelay: 0 },
    mode: { ...court.subject.modes.systemd, NOTIFY_SOCKET: socket.path },
  });
  const ready = await socket.heard(/^READY=1$/, TOLD_WITHIN_MS);
  court.demand(ready !== null, "The service served, and systemd was never told READY=1.", {
    todo: "Send READY=1 to NOTIFY_SOCKET when the service is ready: systemd waits for it, and counts the start as failed without.",
  });
  court.demand(
    !socket.told.some(({ assignment }) => assignment === "STOPPING=1"),
    "systemd was told STOPPING=1 before the stop signal.",
    { todo: "Send STOPPING=1 at the stop signal." },
  );
  const slow = await putInFlight(court, copy, court.target("slow", { seconds: 2.5 }));
  copy.signal(court.subject.stopSignal, killMode === "mixed" ? "main" : "group");
  const stopping = await socket.heard(/^STOPPING=1$/, TOLD_WITHIN_MS);
  court.demand(stopping !== null && copy.running, "systemd was not told STOPPING=1 after the stop signal.", {
    todo: "Send STOPPING=1 to NOTIFY_SOCKET at the stop signal.",
    wire: slow,
  });
  court.measure(`stoppingAfterMs (${killMode})`, sinceT0(copy, stopping.atMs));
  const status = socket.told.find(
    ({ atMs, assignment }) => atMs >= stopping.atMs && assignment.startsWith("STATUS="),
  );
  court.demand(status !== undefined, "systemd was told no STATUS with STOPPING=1.", {
    todo: "Send a STATUS line with STOPPING=1: systemctl status shows it while the unit stops.",
  });
  if (court.subject.settings.gracePeriod !== undefined) {
    const extend = await socket.heard(/^EXTEND_TIMEOUT_USEC=\d+$/, TOLD_WITHIN_MS);
    const ms = Number(extend?.assignment.split("=")[1] ?? 0) / 1000;
    court.measure("extendTimeoutMs", ms);
    court.demand(
      ms >= GRACE_PERIOD_MS,
      `With a grace period of ${GRACE_PERIOD_MS} ms systemd was asked for ${ms} ms.`,
      { todo: "Send EXTEND_TIMEOUT_USEC with the grace period: a shorter TimeoutStopSec cuts the stop." },
    );
  }
  court.demandAnswer(await slow.answer(), [200], `A request in flight (KillMode=${killMode})`, {
    todo: "Whoever else is signalled, the request in flight is answered.",
    wire: slow,
  });
  const exit = await court.exit(copy, 4000, "Exit when the last answer is out.");
  court.demand(
    exit.code === court.subject.exitCodes.clean,
    `${exitInWords(exit)} with KillMode=${killMode}.`,
    { todo: `A drain that finished everything exits with ${court.subject.exitCodes.clean}.` },
  );
}

export const clause: Clause = {
  id: "G6",
  level: "process",
  title: "under systemd Type=notify it says READY, STOPPING, a status line, and asks for the time it needs",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const folder = await mkdtemp(path.join(tmpdir(), "lastcall-g6-"));
      try {
        for (const killMode of ["mixed", "control-group"] as const) {
          const socket = await bindNotifySocket(path.join(folder, killMode), subject.guardian);
          if (socket === null) {
            court.leave("neither python3 nor perl is here to receive what is sent to NOTIFY_SOCKET");
          }
          try {
            // One after the other: each copy has a socket of its own.
            await judgeKillMode(court, socket, killMode);
          } finally {
            socket.close();
          }
        }
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    }),
};
