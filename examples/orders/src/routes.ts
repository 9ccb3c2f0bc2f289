/** The routes of the orders service, the same in every build: README.md has the table of what each one does. */

import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import { answerJson, HttpError, numberOf, readJson } from "./http-answer.ts";
import { MAIL_MODES, type Mailer } from "./mail.ts";
import type { Store } from "./store.ts";
import { streamChunks, streamEvents } from "./streams.ts";
import { syncWork } from "./sync-work.ts";
import type { Track } from "./tracking.ts";

export interface Services {
  readonly store: Store;
  readonly mailer: Mailer;
  readonly track: Track;
  /** Called after the commit of each order. */
  readonly executed: (id: string) => void;
  readonly eventsFile: string | undefined;
  /** Fires at the stop signal, where the build knows of it. */
  readonly stopping: AbortSignal | undefined;
}

export interface Call {
  readonly req: IncomingMessage;
  readonly res: ServerResponse;
  readonly query: URLSearchParams;
}
export type Route = (call: Call) => Promise<void>;

export function createRoutes(services: Services): ReadonlyMap<string, Route> {
  const { store, mailer, track, executed } = services;
  const held = new Set<() => void>();
  const pid = process.pid;

  const mail =
    (mode: (typeof MAIL_MODES)[number]): Route =>
    async ({ res, query }) => {
      const letter = { mode, tag: query.get("tag") ?? "none", delayMs: seconds(query, "delay", 1) * 1000 };
      const fate = query.get("fate") === "abandon" ? "abandon" : "abort";
      answerJson(res, 202, { queued: letter.tag, mode });
      // Three ways to work after the answer: inside the handler, held by nobody, held by the lifecycle.
      if (mode === "background") await mailer.send(letter);
      // What becomes of these two is in the outbox, the events and the record; here nobody waits for it.
      else if (mode === "task") void mailer.send(letter);
      else track(`mail ${letter.tag}`, (signal) => mailer.send(letter, signal), fate).catch(() => {});
    };

  return new Map<string, Route>([
    [
      "GET /work",
      async ({ res, query }) => {
        const slept = seconds(query, "seconds", 0.3);
        await sleep(slept * 1000);
        answerJson(res, 200, { pid, slept });
      },
    ],
    [
      "GET /sync-work",
      async ({ res, query }) => {
        const slept = seconds(query, "seconds", 5);
        // Nothing can stop the thread, so nothing else can become of it at the deadline.
        await track(`sync-work ${slept} s`, () => syncWork(slept * 1000, services.eventsFile), "abandon");
        answerJson(res, 200, { pid, slept });
      },
    ],
    [
      "POST /orders",
      async ({ req, res, query }) => {
        const body = await readJson(req);
        const id = body["id"];
        if (typeof id !== "string" || id === "" || id.length > 200 || /[\r\n]/.test(id)) {
          throw new HttpError(400, "id is not a string of 1 to 200 characters on one line");
        }
        const after = query.get("after");
        if (after === null) await sleep(numberOf("work", body["work"], 0.3) * 1000);
        const outcome = store.insert(id);
        if (outcome === "inserted") executed(id);
        if (after !== null) await sleep(numberOf("after", after, 0.3) * 1000);
        if (outcome === "inserted") answerJson(res, 201, { id, pid });
        else answerJson(res, 409, { id, pid, duplicate: true });
      },
    ],
    ...MAIL_MODES.map((mode) => [`POST /email/${mode}`, mail(mode)] as const),
    [
      "GET /stream",
      ({ res, query }) =>
        streamChunks(res, seconds(query, "chunks", 20), seconds(query, "interval", 0.1) * 1000),
    ],
    [
      "GET /events",
      ({ req, res, query }) => {
        const last = Number(req.headers["last-event-id"] ?? 0);
        if (!Number.isSafeInteger(last) || last < 0) {
          throw new HttpError(400, "Last-Event-ID is not one of ours");
        }
        return streamEvents(res, seconds(query, "interval", 0.25) * 1000, services.stopping, last);
      },
    ],
    ["GET /stuck", () => new Promise<void>(() => {})],
    [
      "GET /spin",
      async ({ res, query }) => {
        const ms = Number(query.get("ms") ?? 1000);
        if (!(ms >= 0 && ms <= 3_600_000)) throw new HttpError(400, "ms is not a number of milliseconds");
        spin(ms);
        answerJson(res, 200, { pid, spun: ms });
      },
    ],
    [
      "GET /hold",
      async ({ res }) => {
        await new Promise<void>((resolve) => held.add(resolve));
        answerJson(res, 200, { pid, held: true });
      },
    ],
    [
      "POST /release",
      async ({ req, res }) => {
        // Read to its end first: a release begun before the gate may be finished behind it.
        await readJson(req);
        const waiting = [...held];
        held.clear();
        res.once("finish", () => {
          for (const release of waiting) release();
        });
        answerJson(res, 200, { released: waiting.length });
      },
    ],
  ]);
}

/** Blocks the event loop; its name is what a watchdog has to find. */
function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

function seconds(query: URLSearchParams, name: string, ifMissing: number): number {
  return numberOf(name, query.get(name), ifMissing);
}
