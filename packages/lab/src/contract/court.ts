/**
 * A hearing: one judge's work with the copies it started. It turns demands into a judgement with figures and the one
 * connection that shows the breach, and ends every copy whatever happens.
 */

import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import type { Judgement, Need } from "./clause.ts";
import { type Copy, type Exit, StartFailed, type StartPlan } from "./copy.ts";
import { type ShutdownRecord, findRecord } from "./record.ts";
import { startCopy } from "./start-copy.ts";
import { type Routes, type Sayings, type Subject, fill } from "./subject.ts";
import { type Answer, Refused, type Target, type TraceEntry, type Wire } from "./wire.ts";

/** How far a figure may pass a limit of the contract before the judge calls it broken: a busy machine, not the service. */
export const SLACK_MS = 200;

/** More than a sender's and a receiver's socket hold while nobody reads. */
const READ_LATE_BYTES = 8 * 1024 * 1024;

/** An excess that no busy machine explains. */
const HOPELESS_MS = 1500;

export interface Evidence {
  /** What to do about it, one sentence. */
  readonly todo: string;
  readonly wire?: Pick<Wire, "trace"> | null | undefined;
  /** A figure that a busy machine may have spoilt: it counts only when it is seen three times in a row. */
  readonly timing?: boolean;
}

class Breach extends Error {
  readonly evidence: Evidence;
  constructor(reason: string, evidence: Evidence) {
    super(reason);
    this.evidence = evidence;
  }
}

class NotJudged extends Error {}

/** The judge itself came too late to see what it had to see. */
class Spoilt extends Error {}

/** Whether the subject names what a judge needs; if not, the first thing that is missing. */
export function missing(subject: Subject, needs: readonly Need[]): Need | null {
  for (const need of needs) {
    if (need === "settings.drainDelay" && subject.fixedDrainDelayMs !== undefined) {
      continue;
    }
    const { slow, upload, bulk } = subject.routes;
    if (need === "longRequest" && (slow ?? upload ?? bulk) !== undefined) {
      continue;
    }
    if (need === "longRequest") {
      return "routes.slow";
    }
    if (need === "routes.slow" && upload !== undefined) {
      continue;
    }
    const [group = "", name] = need.split(".");
    const field = (subject as unknown as Record<string, unknown>)[group];
    const value = name === undefined ? field : (field as Record<string, unknown> | undefined)?.[name];
    if (value === undefined || value === false) {
      return need;
    }
  }
  return null;
}

export class Hearing {
  readonly subject: Subject;
  readonly #copies: Copy[] = [];
  readonly #measured: Record<string, number | string> = {};

  constructor(subject: Subject) {
    this.subject = subject;
  }

  async start(plan: StartPlan = {}): Promise<Copy> {
    const { settings, fixedDrainDelayMs: fixed } = this.subject;
    const wanted = plan.set?.drainDelay;
    if (
      settings.drainDelay === undefined &&
      fixed !== undefined &&
      wanted !== undefined &&
      wanted !== fixed
    ) {
      throw new NotJudged(
        `its drain delay is fixed at ${fixed} ms, and this needs another: name settings.drainDelay`,
      );
    }
    return startCopy(this.subject, plan, (copy) => this.#copies.push(copy));
  }

  /** Starts a copy that is expected to end by itself, and does not wait for it to serve. */
  async startToFail(plan: StartPlan): Promise<Copy> {
    try {
      return await this.start(plan);
    } catch (error) {
      const copy = this.#copies.at(-1);
      if (!(error instanceof StartFailed) || copy === undefined || copy.running) {
        throw error;
      }
      return copy;
    }
  }

  /** Starts another service, to compare with. */
  startOther(subject: Subject): Promise<Copy> {
    return startCopy(subject, {}, (copy) => this.#copies.push(copy));
  }

  /** A route with its values filled in. */
  target(route: keyof Routes, values: Readonly<Record<string, string | number>> = {}): Target {
    const template = this.subject.routes[route];
    const { upload, bulk } = this.subject.routes;
    if (route === "slow" && template === undefined && upload !== undefined) {
      // Without a slow route a request is made long from outside: its body is held back,
      const [method = "POST", path = "/"] = upload.split(" ");
      return { method, path: fill(path, values), holdBackMs: Number(values["seconds"] ?? 1) * 1000 };
    }
    if (route === "slow" && template === undefined && bulk !== undefined) {
      // or its answer, which must be more than the sockets hold, is read late.
      const [method = "GET", path = "/"] = bulk.split(" ");
      const readAfterMs = Number(values["seconds"] ?? 1) * 1000;
      return { method, path: fill(path, { ...values, bytes: READ_LATE_BYTES }), readAfterMs };
    }
    if (template === undefined) {
      throw new NotJudged(`the description names no routes.${route}`);
    }
    const [method = "GET", path = "/"] = template.split(" ");
    return { method, path: fill(path, { seconds: 1, id: "1", bytes: 1, shape: 0, ...values }) };
  }

  /** Whether a route's template has a place for this value, so that its answer can be told from another one's. */
  carries(route: keyof Routes, value: string): boolean {
    return this.subject.routes[route]?.includes(`{${value}}`) === true;
  }

  /** The line that the service prints for an event, as a pattern. */
  saying(saying: keyof Sayings, values: Readonly<Record<string, string | number>> = {}): RegExp {
    const template = this.subject.says[saying];
    if (template === undefined) {
      throw new NotJudged(`the description names no says.${saying}`);
    }
    const filled = fill(template, values).replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
    // The whole line: a log line about the same matter is not the event.
    return new RegExp(`^${filled.replaceAll(/\\\{\w+\\\}/g, ".*")}$`);
  }

  measure(name: string, value: number | string): void {
    this.#measured[name] = typeof value === "number" ? Math.round(value * 10) / 10 : value;
  }

  /** Where the demand is not met, the clause is broken and the hearing is over. */
  demand(met: boolean, reason: string, evidence: Evidence): asserts met {
    if (!met) {
      throw new Breach(reason, evidence);
    }
  }

  /** A time within its limit, the machine's slack granted; a small excess must be seen again before it counts. */
  demandInTime(tookMs: number, limitMs: number, reason: string, evidence: Evidence): void {
    const excessMs = tookMs - limitMs - SLACK_MS;
    this.demand(excessMs < 0, reason, { ...evidence, timing: excessMs < HOPELESS_MS });
  }

  /** What was to be seen until this long after t0 was seen (now, or at the given instant); otherwise the judge tries again. */
  onTime(copy: Copy, untilMs: number, atMs: number = performance.now()): void {
    const sinceMs = sinceT0(copy, atMs);
    if (sinceMs > untilMs) {
      this.spoilt(sinceMs - untilMs);
    }
  }

  /** The judge could not do its part in time: it tries again. */
  spoilt(lateMs: number): never {
    throw new Spoilt(`The judge was ${Math.round(lateMs)} ms late: this machine is too busy for it.`);
  }

  /** A whole answer with one of these statuses. */
  demandAnswer(answer: Answer, statuses: readonly number[], what: string, evidence: Evidence): void {
    const seen =
      answer.status === null
        ? `no answer (${answer.ended})`
        : `${answer.status}${answer.ended === "whole" ? "" : `, cut short (${answer.ended})`}`;
    const met = answer.ended === "whole" && answer.status !== null && statuses.includes(answer.status);
    this.demand(met, `${what} got ${seen} instead of a whole ${statuses.join(" or ")}.`, evidence);
  }

  /** The exit, or a breach when it has not come within this time from now. */
  async exit(copy: Copy, withinMs: number, todo: string, timing = false): Promise<Exit> {
    const giveUp = new AbortController();
    const late = pause(withinMs, null, { signal: giveUp.signal }).catch(() => null);
    const exit = await Promise.race([copy.exited, late]);
    giveUp.abort();
    this.demand(
      exit !== null,
      `The process was still running after ${sinceT0(copy, performance.now())} ms.`,
      { todo, timing },
    );
    return exit;
  }

  /** The record that the copy wrote, once it has ended. */
  record(copy: Copy): ShutdownRecord {
    const record = findRecord(copy.lines.map((line) => line.text));
    this.demand(record !== null, "The process ended without a machine-readable line about its shutdown.", {
      todo: "Write one line of JSON to stderr at the end (docs/record.md), in a way that survives a pipe.",
    });
    return record;
  }

  /** Gives up without a judgement. */
  leave(why: string): never {
    throw new NotJudged(why);
  }

  async end(): Promise<void> {
    await Promise.all(this.#copies.map((copy) => copy.kill()));
  }

  judgement(error: unknown): Judgement {
    if (error === null) {
      return { kind: "kept", measured: this.#measured };
    }
    if (error instanceof NotJudged || error instanceof Spoilt || error instanceof StartFailed) {
      return { kind: "not judged", why: error.message };
    }
    const t0Ms = this.#copies.findLast((copy) => copy.t0Ms !== null)?.t0Ms ?? null;
    if (error instanceof Refused) {
      const reason = `A connection that the judge needed was not made (${error.code}).`;
      return t0Ms === null
        ? { kind: "not judged", why: reason }
        : {
            kind: "broken",
            reason,
            measured: this.#measured,
            trace: [],
            todo: "Accept connections until the gate closes.",
          };
    }
    if (error instanceof Breach) {
      return {
        kind: "broken",
        reason: error.message,
        measured: this.#measured,
        trace: relative(error.evidence.wire?.trace ?? [], t0Ms ?? 0),
        todo: error.evidence.todo,
      };
    }
    throw error;
  }
}

/** Milliseconds since the stop signal, rounded. */
export function sinceT0(copy: Copy, atMs: number): number {
  return Math.round(atMs - (copy.t0Ms ?? 0));
}

function relative(trace: readonly TraceEntry[], t0Ms: number): TraceEntry[] {
  return trace.map((entry) => ({ ...entry, atMs: Math.round((entry.atMs - t0Ms) * 10) / 10 }));
}

/** How often a breach that is only a matter of time must be seen. */
const TRIES = 3;

/** Runs one judge's body. An error that is neither a breach nor a missing piece is the judge's own defect and is thrown. */
export async function hearing(
  subject: Subject,
  needs: readonly Need[],
  body: (court: Hearing) => Promise<void>,
): Promise<Judgement> {
  const lacking = missing(subject, needs);
  if (lacking !== null) {
    return { kind: "not judged", why: `the description names no ${lacking}` };
  }
  for (let tries = 1; ; tries += 1) {
    const court = new Hearing(subject);
    try {
      await body(court);
      return court.judgement(null);
    } catch (error) {
      const spoilt = error instanceof Spoilt || (error instanceof Breach && error.evidence.timing === true);
      if (!spoilt || tries === TRIES) {
        return court.judgement(error);
      }
    } finally {
      await court.end();
    }
  }
}
