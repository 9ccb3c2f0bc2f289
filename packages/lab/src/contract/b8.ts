/** B8: who has connected and not spoken yet may still speak in the window, and cannot hold the process after it. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { exitWithNothingOpen, lingerWindowMs, roundTrip, untilRefused } from "./moves.ts";
import type { Wire } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.ordinary", "settings.drainDelay"];
const LINGER_MS = 800;
const LIMIT_MS = 50;

/** The first bytes of a ClientHello, and no more. */
const HALF_HELLO: Buffer = Buffer.from([0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00]);

export const clause: Clause = {
  id: "B8",
  level: "core",
  title:
    "connections that never sent a byte, and TLS handshakes in progress, delay exit by no more than the linger window",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const withoutAnyMs = await exitWithNothingOpen(court);
      const windowMs = lingerWindowMs(subject, LINGER_MS);
      const copy = await court.start({ set: { drainDelay: 0, linger: LINGER_MS } });
      const silent = await Promise.all(Array.from({ length: 8 }, () => copy.open()));
      const speaker = await copy.open();
      let passGate: () => void = () => {};
      const handshakeAfter = new Promise<void>((resolve) => {
        passGate = resolve;
      });
      const shy = subject.tls ? copy.open({ handshakeAfter }) : null;
      // Awaited below; a breach before that ends the hearing.
      shy?.catch(() => {});
      if (subject.tls) {
        const handshakes: Wire[] = await Promise.all(
          Array.from({ length: 4 }, () => copy.open({ bare: true })),
        );
        for (const wire of handshakes.slice(1)) {
          wire.send(HALF_HELLO);
        }
      }
      await roundTrip(court, copy);
      copy.signal();
      const refusedAtMs = await untilRefused(copy, 5000);
      // Who was let in until then has the window, too: the judge itself, which tried.
      const openMs = Math.max(0, sinceT0(copy, refusedAtMs ?? performance.now()));
      await pause(50);
      passGate();
      speaker.request(court.target("ordinary", { id: "first" }));
      const answer = await speaker.answer();
      court.onTime(copy, openMs + windowMs);
      court.demandAnswer(
        answer,
        [200],
        "A first request just after the gate, on a connection made before it,",
        {
          todo: "Serve connections that are open at the gate until the linger window is over, the silent ones, too.",
          wire: speaker,
        },
      );
      if (shy !== null) {
        const wire = await shy;
        wire.request(court.target("ordinary", { id: "shy" }));
        const handshaken = await wire.answer();
        court.onTime(copy, openMs + windowMs);
        court.demandAnswer(handshaken, [200], "A TLS handshake begun just after the gate", {
          todo: "Let handshakes come to their end within the linger window, and serve the first request.",
          wire,
        });
      }
      const todo =
        "End connections that never sent a byte when the linger window is over: Node leaves them open for ever.";
      const exit = await court.exit(copy, 2500, todo);
      const tookMs = sinceT0(copy, exit.atMs);
      court.measure("exitMs", tookMs);
      court.demandInTime(
        tookMs - withoutAnyMs,
        openMs + windowMs + LIMIT_MS,
        `Silent connections held the process for ${tookMs} ms, which leaves after ${withoutAnyMs} ms with none; the linger window is ${windowMs} ms, and the listener was open for ${openMs} ms after the signal.`,
        { todo, wire: silent[0] },
      );
    }),
};
