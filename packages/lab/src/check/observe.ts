/**
 * One stop of one service, watched from its clients' side: a request in flight, requests half sent, connections from a
 * pool, new connections until the end, and the exit.
 */

import { performance } from "node:perf_hooks";
import { setTimeout as sleep } from "node:timers/promises";
import { openWire } from "../contract/open-wire.ts";
import { Refused, requestBytes, type Answer, type Wire } from "../contract/wire.ts";
import { probe } from "../target/readiness.ts";
import type { Exit, ProbePlace, Service } from "./service.ts";

/** How many requests of one sort met which end. */
export interface Fates {
  readonly answered: number;
  /** A clear no, safe to retry: connection refused, or a 503. */
  readonly refused: number;
  /** Sent, and never answered: a client cannot know what became of it. */
  readonly lost: number;
}

export interface Observation {
  /** Null where no request could be kept in flight: the route answers at once, and no slow one was named. */
  readonly inFlight: Fates | null;
  readonly halfSent: Fates;
  /** Null where the service closes each connection after its answer: a pool has nothing to lose there. */
  readonly pooled: Fates | null;
  /** New connections, one every 25 ms for the second after the signal. */
  readonly fresh: Fates;
  /** Answers after the signal that told their client to go elsewhere, of those that came. */
  readonly told: { readonly yes: number; readonly of: number };
  /** When readiness turned, in ms after the signal; null when no readiness path was found, Infinity when it never did. */
  readonly notReadyMs: number | null;
  /** Null when it had to be killed. */
  readonly exit: {
    readonly code: number | null;
    readonly signal: string | null;
    readonly afterMs: number;
  } | null;
  /** Ports that were still listened on after the process that we started had gone. */
  readonly leftBehind: readonly number[];
}

export interface Watch {
  readonly signal: NodeJS.Signals;
  /** A route that takes about a second, if the user knows one. */
  readonly slow: string | null;
  /** SIGKILL after this. */
  readonly patienceMs: number;
}

const HALF_SENT = 5;
const POOLED = 10;
const FRESH_EVERY_MS = 25;
const FRESH_FOR_MS = 1000;
/**
 * When the pool sends its next requests, one connection after the other: after a naive close has happened, within any linger
 * window. All at one moment would leave it to luck with services that look for the signal ten times a second, as uvicorn.
 */
const POOL_FROM_MS = 60;
const POOL_UNTIL_MS = 150;
const ANSWER_TIMEOUT_MS = 4000;
const SIGNAL_DELIVERY_MS = 30;

class Tally {
  answered = 0;
  refused = 0;
  lost = 0;
  add(answer: Answer | "refused"): void {
    if (answer === "refused") {
      this.refused += 1;
    } else if (answer.ended === "whole" && answer.status !== null) {
      this[answer.status === 503 ? "refused" : "answered"] += 1;
    } else {
      this.lost += 1;
    }
  }
  fates(): Fates {
    return { answered: this.answered, refused: this.refused, lost: this.lost };
  }
}

export async function observeStop(service: Service, watch: Watch): Promise<Observation> {
  const address = { kind: "tcp", port: service.port, tls: false } as const;
  const target = { method: "GET", path: service.route };
  const [head, tail] = split(requestBytes(target));
  const told = { yes: 0, of: 0 };
  let t0 = Number.POSITIVE_INFINITY;
  const note = (answer: Answer): Answer => {
    // An answer of the first moment may have been written before the signal arrived.
    if (answer.ended === "whole" && (answer.headAtMs ?? 0) > t0 + SIGNAL_DELIVERY_MS) {
      told.of += 1;
      told.yes += isLast(answer) ? 1 : 0;
    }
    return answer;
  };

  const answered: Wire[] = [];
  for (const wire of await many(POOLED, () => openWire(address))) {
    wire.request(target);
    const answer = await wire.answer({ timeoutMs: ANSWER_TIMEOUT_MS });
    if (answer.ended === "whole" && !isLast(answer)) {
      answered.push(wire);
    }
  }
  const halves = await many(HALF_SENT, () => openWire(address));
  halves.forEach((wire) => wire.send(head));
  const flight = watch.slow === null ? null : await openWire(address);
  flight?.request({ method: "GET", path: watch.slow ?? "" });
  await sleep(150); // What was sent has arrived: nothing on the other side can be awaited from here.
  // A client keeps in its pool what was neither closed nor announced to be.
  const pool = answered.filter((wire) => wire.state === "open");

  t0 = performance.now();
  service.signal(watch.signal);
  const exited = waitForExit(service, t0, watch.patienceMs);

  const inFlight = new Tally();
  const halfSent = new Tally();
  const pooled = new Tally();
  const fresh = new Tally();
  const all = [
    ...(flight === null ? [] : [ask(flight, inFlight, note)]),
    ...halves.map(async (wire, n) => {
      await sleep(pauseOf(n, HALF_SENT));
      wire.send(tail);
      await ask(wire, halfSent, note);
    }),
    ...pool.map(async (wire, n) => {
      await sleep(pauseOf(n, pool.length));
      wire.request(target);
      await ask(wire, pooled, note);
    }),
    knock(service, t0, async () => {
      try {
        const wire = await openWire(address);
        wire.request(target);
        await ask(wire, fresh, note);
      } catch (error) {
        if (!(error instanceof Refused)) {
          throw error;
        }
        if (error.code === "ECONNREFUSED") {
          fresh.add("refused");
        } else {
          fresh.lost += 1;
        }
      }
    }),
  ];
  const readiness = service.readiness === null ? null : whenNotReady(service, service.readiness, t0);
  await Promise.all(all);
  const exit = await exited;
  return {
    inFlight: flight === null ? null : inFlight.fates(),
    halfSent: halfSent.fates(),
    pooled: pool.length === 0 ? null : pooled.fates(),
    fresh: fresh.fates(),
    told,
    notReadyMs: await readiness,
    exit: exit === null ? null : { code: exit.code, signal: exit.signal, afterMs: exit.atMs - t0 },
    leftBehind: exit === null ? [] : service.leftovers(),
  };
}

function pauseOf(n: number, count: number): number {
  return POOL_FROM_MS + ((POOL_UNTIL_MS - POOL_FROM_MS) * n) / Math.max(1, count - 1);
}

function isLast({ headers }: Answer): boolean {
  return headers["connection"]?.toLowerCase() === "close";
}

function split(bytes: string): readonly [string, string] {
  const half = Math.floor(bytes.length / 2);
  return [bytes.slice(0, half), bytes.slice(half)];
}

function many(count: number, make: () => Promise<Wire>): Promise<Wire[]> {
  return Promise.all(Array.from({ length: count }, make));
}

async function ask(wire: Wire, tally: Tally, note: (answer: Answer) => Answer): Promise<void> {
  tally.add(note(await wire.answer({ timeoutMs: ANSWER_TIMEOUT_MS })));
  wire.close();
}

/** A new connection every 25 ms, until the process has gone or a second is over. */
async function knock(service: Service, t0: number, once: () => Promise<void>): Promise<void> {
  const running: Promise<void>[] = [];
  for (let at = 0; at < FRESH_FOR_MS; at += FRESH_EVERY_MS) {
    await sleep(Math.max(0, t0 + at - performance.now()));
    running.push(once());
    if (service.exit() !== null && at > FRESH_FOR_MS / 2) {
      break;
    }
  }
  await Promise.all(running);
}

async function whenNotReady(service: Service, { port, path }: ProbePlace, t0: number): Promise<number> {
  while (service.exit() === null) {
    const seen = await probe(port, path, 500);
    if (seen !== 200) {
      return seen === 503 ? performance.now() - t0 : Number.POSITIVE_INFINITY;
    }
    await sleep(10);
  }
  return Number.POSITIVE_INFINITY;
}

async function waitForExit(service: Service, t0: number, patienceMs: number): Promise<Exit | null> {
  const over = new AbortController();
  const late = sleep(t0 + patienceMs - performance.now(), null, { signal: over.signal }).catch(() => null);
  const exit = await Promise.race([service.exited, late]);
  over.abort();
  if (exit === null) {
    await service.end();
  }
  return exit;
}
