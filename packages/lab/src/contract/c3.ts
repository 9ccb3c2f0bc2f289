/** C3: a client that is slow on purpose has no say in when the process leaves. */

import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { roundTrip } from "./moves.ts";
import { type Wire, requestBytes } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "settings.drainDelay", "settings.gracefulTimeout"];
const GRACEFUL_TIMEOUT_MS = 800;
const LIMIT_MS = 250;
const ADVICE =
  "At the deadline end every socket, the half-spoken ones, too: Node enforces no header or request timeout after server.close().";

/** Sends a byte now and then, as long as the other side lets it. */
function drip(wire: Wire, bytes: string): NodeJS.Timeout {
  let at = 0;
  return setInterval(() => {
    if (wire.state === "open" && at < bytes.length) {
      wire.send(bytes.charAt(at));
      at += 1;
    }
  }, 40);
}

export const clause: Clause = {
  id: "C3",
  level: "core",
  title: "a client that does not read, or sends a byte at a time, cannot hold the process past the deadline",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const copy = await court.start({ set: { drainDelay: 0, gracefulTimeout: GRACEFUL_TIMEOUT_MS } });
      const wires: Wire[] = [];
      const drips: NodeJS.Timeout[] = [];
      if (subject.routes.bulk !== undefined) {
        const deaf = await copy.open();
        deaf.pause();
        deaf.request(court.target("bulk", { bytes: 64 * 1024 * 1024 }));
        wires.push(deaf);
      }
      const head = await copy.open();
      const bytes = requestBytes(court.target("ordinary", { id: "drip" }), {
        headers: { "X-Long": "x".repeat(500) },
      });
      head.send(bytes.slice(0, 20));
      drips.push(drip(head, bytes.slice(20)));
      wires.push(head);
      if (subject.routes.upload !== undefined) {
        const { method, path } = court.target("upload");
        const body = await copy.open();
        body.send(`${method} ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 500\r\n\r\n`);
        drips.push(drip(body, "x".repeat(500)));
        wires.push(body);
      }
      try {
        await roundTrip(court, copy);
        copy.signal();
        const exit = await court.exit(copy, 2500, ADVICE);
        const tookMs = sinceT0(copy, exit.atMs);
        court.measure("exitMs", tookMs);
        court.measure("clients", wires.length);
        court.demandInTime(
          tookMs,
          GRACEFUL_TIMEOUT_MS + LIMIT_MS,
          `Slow clients held the process for ${tookMs} ms; its deadline was ${GRACEFUL_TIMEOUT_MS} ms.`,
          { todo: ADVICE, wire: head },
        );
      } finally {
        drips.forEach((timer) => clearInterval(timer));
        wires.forEach((wire) => wire.close());
      }
    }),
};
