/** F6: a gRPC call over the gate ends with OK, or with UNAVAILABLE where nothing was done; never without a status. */

import { setTimeout as pause } from "node:timers/promises";
import type { Clause, Need } from "./clause.ts";
import { type Hearing, hearing } from "./court.ts";
import { askWithoutPause, delayFor, http2Ways, type Http2Way, openSessions } from "./http2-moves.ts";
import type { Http2Stream, Http2Wire } from "./http2-wire.ts";
import type { Routes } from "./subject.ts";

const NEEDS: readonly Need[] = ["routes.grpcUnary", "settings.drainDelay"];
const OK = 0;
const UNAVAILABLE = 14;
/** One message, empty and not compressed. */
const EMPTY_MESSAGE: Buffer = Buffer.alloc(5);
const HEADERS = { "content-type": "application/grpc", te: "trailers" };
const SESSIONS = 3;
/** Less than the time in which a call is sent and its GOAWAY has not come yet. */
const EVERY_MS = 12;

function call(court: Hearing, wire: Http2Wire, route: keyof Routes): Http2Stream {
  return wire.request(court.target(route), { headers: HEADERS, body: EMPTY_MESSAGE });
}

function ending(stream: Http2Stream): string {
  const end = { open: "the connection", whole: "its body", reset: "RST_STREAM", refused: "RST_STREAM" };
  return stream.grpcStatus === null ? `${end[stream.end]} and no status` : `status ${stream.grpcStatus}`;
}

async function judgeGate(court: Hearing, way: Http2Way): Promise<void> {
  const delayMs = delayFor(court, 200);
  const copy = await court.start({ ...way.plan, set: { drainDelay: delayMs, gracefulTimeout: 6000 } });
  const wires = await openSessions(court, copy, way, SESSIONS);
  const over = new AbortController();
  const load = wires.map((wire) =>
    askWithoutPause(wire, () => call(court, wire, "grpcUnary"), EVERY_MS, over.signal),
  );
  await pause(Math.max(0, 300 - delayMs));
  const kinds = (["grpcUnary", "grpcStream"] as const).filter(
    (kind) => court.subject.routes[kind] !== undefined,
  );
  const inFlight = kinds.flatMap((kind) =>
    wires.map((wire) => ({ kind, wire, stream: call(court, wire, kind) })),
  );
  await Promise.all(wires.map((wire) => wire.ping()));
  copy.signal();
  await court.exit(copy, delayMs + 8000, "Close each session when its last call is answered, then exit.");
  over.abort();
  await Promise.all(load);
  await Promise.all(wires.map((wire) => wire.until(() => false, 2000)));
  for (const { kind, wire, stream } of inFlight) {
    court.demand(
      stream.grpcStatus === OK,
      `A call in flight at the gate (routes.${kind}) ended with ${ending(stream)}.`,
      {
        todo: "Finish calls that are in flight; of a gRPC server tryShutdown(), with a deadline, after the GOAWAY.",
        wire,
      },
    );
  }
  let retry = 0;
  for (const wire of wires) {
    retry += wire.tally().retry;
    const last = Math.min(...wire.goaways.map(({ lastId }) => lastId));
    const bad = [...wire.streams.values()].find(
      ({ id, end, grpcStatus }) =>
        id <= last && end !== "refused" && grpcStatus !== OK && grpcStatus !== UNAVAILABLE,
    );
    court.demand(bad === undefined, `A call ended with ${bad === undefined ? "" : ending(bad)}.`, {
      todo: "A call that cannot be served gets status 14, UNAVAILABLE: every client sends it again.",
      wire,
      timing: true,
    });
  }
  court.measure(
    `calls (${way.door})`,
    wires.reduce((sum, wire) => sum + wire.streams.size, 0),
  );
  court.measure(`retry (${way.door})`, retry);
  court.demand(
    way.door === "h2" || retry === 0,
    `${retry} calls were sent before the client could know, and not answered.`,
    {
      todo: "Send GOAWAY in two steps with a PING between them (RFC 9113, section 6.8).",
      wire: wires[0],
      timing: true,
    },
  );
}

/** At the deadline a call that is left has a status that is not OK, or is reset. */
async function judgeDeadline(court: Hearing, way: Http2Way): Promise<void> {
  const delayMs = delayFor(court, 0);
  const copy = await court.start({
    ...way.plan,
    set: { drainDelay: delayMs, gracefulTimeout: 300, linger: 100 },
  });
  const wire = await copy.openHttp2(way.door);
  const stream = call(court, wire, "grpcUnary");
  await wire.ping();
  copy.signal();
  await court.exit(
    copy,
    delayMs + 3000,
    "Cut the calls that are left at the graceful timeout, and exit.",
    true,
  );
  await wire.until(() => false, 1000);
  court.measure("atTheDeadline", ending(stream));
  court.demand(
    stream.end !== "whole" || stream.grpcStatus !== null,
    "A call that was cut at the deadline ended in order and without a status.",
    { todo: "End it with status 14, UNAVAILABLE, or with RST_STREAM.", wire },
  );
}

export const clause: Clause = {
  id: "F6",
  level: "protocol",
  title: "gRPC calls follow F2: the client sees OK or UNAVAILABLE, and never a cut before the deadline",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      for (const way of http2Ways(court)) {
        await judgeGate(court, way);
        if (subject.settings.gracefulTimeout !== undefined) {
          await judgeDeadline(court, way);
        }
      }
    }),
};
