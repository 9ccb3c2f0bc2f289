/** F1: a WebSocket is told to go in its own protocol, one client after the other, and may say goodbye. */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import type { Copy } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight, untilRefused, warm } from "./moves.ts";
import { clientFrame, CLOSE, closeCode, handshake } from "../load/web-socket-frames.ts";
import { closeFrameIn } from "./web-socket-frames.ts";
import type { Wire } from "./wire.ts";

const NEEDS: readonly Need[] = ["routes.websocket", "routes.ordinary", "routes.slow", "settings.drainDelay"];
const CLIENTS = 12;
const DRAIN_DELAY_MS = 1500;
/** How long a client takes to answer a close frame. */
const THINKS_MS = 300;
const CODES: readonly number[] = [1001, 1012];
const TELL = "Write a close frame with 1001 or 1012 to every WebSocket during the drain delay.";

async function openWebSocket(court: Hearing, copy: Copy): Promise<Wire> {
  const wire = await copy.open();
  wire.request(court.target("websocket"), { headers: handshake().headers });
  const { status } = await wire.answer();
  if (status !== 101) {
    court.leave(`An upgrade to WebSocket was answered with ${String(status)} before the stop signal.`);
  }
  return wire;
}

/** When the client was told; answers after a while, and the connection must stand until then. */
async function beTold(court: Hearing, wire: Wire): Promise<number> {
  let goodbye = null as Buffer | null;
  await wire.until((bytes) => {
    goodbye = closeFrameIn(bytes);
    return goodbye !== null;
  }, 10_000);
  const atMs = performance.now();
  court.demand(
    goodbye !== null,
    wire.state === "open"
      ? "A WebSocket got no close frame, and was left open."
      : `A WebSocket ended with ${wire.state} instead of a close frame.`,
    {
      todo: TELL,
      wire,
    },
  );
  const code = closeCode(goodbye);
  court.demand(CODES.includes(code), `A WebSocket was closed with the code ${code}.`, {
    todo: `${TELL} Clients take other codes for an error, or for the end.`,
    wire,
  });
  await pause(THINKS_MS);
  court.demand(
    wire.state === "open",
    `A WebSocket was ended with ${wire.state} before its client could answer the close frame.`,
    { todo: "Wait about a second for the client's close frame, then end the connection.", wire },
  );
  wire.send(clientFrame(CLOSE, goodbye.subarray(0, 2)));
  const end = await wire.ended(5000);
  court.demand(end === "fin" || end === "closed", `A WebSocket that had said goodbye was left ${end}.`, {
    todo: "End the connection in order as soon as the client has answered the close frame.",
    wire,
  });
  return atMs;
}

async function judgeTold(court: Hearing): Promise<void> {
  const fixedMs =
    court.subject.settings.drainDelay === undefined ? court.subject.fixedDrainDelayMs : undefined;
  const delayMs = fixedMs ?? DRAIN_DELAY_MS;
  const copy = await court.start({
    set: { drainDelay: delayMs, leaveOrder: "announce-first", gracefulTimeout: 5000 },
  });
  const wires = await Promise.all(Array.from({ length: CLIENTS }, () => openWebSocket(court, copy)));
  await putInFlight(court, copy, court.target("slow", { seconds: delayMs / 1000 + 0.5 }));
  copy.signal();
  const times = (await Promise.all(wires.map((wire) => beTold(court, wire)))).toSorted((a, b) => a - b);
  const [first = 0] = times;
  const last = times.at(-1) ?? 0;
  court.measure("firstToldMs", sinceT0(copy, first));
  court.measure("lastToldMs", sinceT0(copy, last));
  court.demand(
    last - first >= delayMs / 4,
    `All ${CLIENTS} WebSockets were told within ${Math.round(last - first)} ms of a drain delay of ${delayMs} ms.`,
    {
      todo: "Spread the close frames over the drain delay: who is told together comes back together.",
      wire: wires[0],
    },
  );
  await court.exit(copy, 5000, "Exit when the last WebSocket is gone.");
}

/** An upgrade that comes when the gate has closed is refused in words, on an old connection or by the kernel. */
async function judgeRefused(court: Hearing): Promise<void> {
  const copy = await court.start({ set: { drainDelay: 0, linger: 1500, gracefulTimeout: 5000 } });
  const old = await warm(court, copy);
  await putInFlight(court, copy, court.target("slow", { seconds: 2 }));
  copy.signal();
  await untilRefused(copy, 3000);
  if (old.state !== "open") {
    court.measure("oldConnection", "was closed before it could ask");
    return;
  }
  old.request(court.target("websocket"), { headers: handshake().headers });
  const answer = await old.answer();
  court.onTime(copy, 1400);
  court.demandAnswer(answer, [503], "An upgrade to WebSocket after the gate", {
    todo: "Answer upgrades with 503 once the gate is closed.",
    wire: old,
  });
}

export const clause: Clause = {
  id: "F1",
  level: "protocol",
  title: "WebSocket clients get a close frame spread over the drain delay, and time to answer it",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      await judgeTold(court);
      await judgeRefused(court);
    }),
};
