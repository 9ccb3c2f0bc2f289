/** What is known of one bad request when its kind is decided: everything that the rules in classify.ts look at. */

import type { RequestRecord, RouterLogRecord, RunRecord } from "../ledger/records.ts";
import type { Arrivals } from "./arrivals.ts";
import { restartOf, type Attribution } from "./attribution.ts";
import { THRESHOLDS } from "./thresholds.ts";
import type { CopyLife, RestartSpan, Timeline } from "./timeline.ts";
import type { Harm } from "./verdict.ts";
import type { Workers } from "./workers.ts";

/** What went wrong between the router (or the client, where there is none) and the copy. */
export type Cause = "connect-refused" | "cut" | "timeout" | "no-upstream";

export interface Facts {
  readonly request: RequestRecord;
  readonly harm: Harm;
  /** How often the store has its id; null when unknown. */
  readonly stored: number | null;
  readonly copy: string | null;
  readonly life: CopyLife | null;
  /** Index into the timeline's restarts. */
  readonly restart: number | null;
  /** The restart in which its copy is the one that leaves. */
  readonly leaving: RestartSpan | null;
  /** Its copy was ready only a short while ago, or was not yet. */
  readonly isNew: boolean;
  /** Some copy was ready, not told to stop and not gone when it was dispatched. */
  readonly someoneServed: boolean;
  readonly cause: Cause | null;
  readonly line: RouterLogRecord | null;
  /** The names of the copies that the router tried. */
  readonly tried: readonly string[];
  /** `nginx 1.22.1`; `none` where the load goes straight to a copy. */
  readonly routerName: string;
  /** There is no router between client and copy. */
  readonly direct: boolean;
  /** The client's HTTP/2 ends at the router, which speaks HTTP/1.1 to the copies. */
  readonly http2AtRouter: boolean;
  /** The connection to the copy had carried a request before, or may have. */
  readonly pooled: boolean;
  /** The answer was made by a copy, not by the router. */
  readonly byCopy: boolean;
  /** The router's answer tells whom it tried and how that ended. */
  readonly told: boolean;
  /** How often it came to a service that worked on it; null when nobody can tell. */
  readonly worked: number | null;
  /** What the witness saw; null: there was none. */
  readonly seen: Arrivals | null;
  /** The router keeps a log, and it has no line about this request. */
  readonly unlogged: boolean;
  /** The shortest time that a good answer of the run took, from dispatch to end; null without one. */
  readonly quickestMs: number | null;
  /** Its copy lives on after it, as far as the run shows. */
  readonly aliveAfter: boolean;
  /** Another copy was out of the way when it was sent: fewer than usual had to do the work. */
  readonly away: string | null;
  /** Somebody had been told to stop by then: there may be two generations. */
  readonly afterFirstStop: boolean;
  /** What happened before the first stop signal too is no matter of restarts. */
  readonly quiet: Quiet;
  /** At its copy a worker process fell silent around that time, and another began to answer. */
  readonly workerTurn: string | null;
  /** From the moment it was written to its end. */
  readonly elapsedMs: number;
  readonly reloadsMs: readonly number[];
}

function causeInLog(line: RouterLogRecord | null): Cause | null {
  switch (line?.class) {
    case "connect-refused":
    case "timeout":
    case "no-upstream":
      return line.class;
    case "upstream-closed":
    case "reset":
    case "cut-by-router":
      return "cut";
    case undefined:
    default:
      return null;
  }
}

/** `ADDRESSES|STATUSES|CONNECT TIMES|RESPONSE TIMES` of the last try. */
function causeInUpstream(request: RequestRecord): Cause | null {
  const [, statuses, connects] = (request.upstream ?? "").split("|");
  const status = statuses?.split(", ").at(-1)?.trim();
  if (status === "504") {
    return "timeout";
  }
  if (status !== "502" || connects === undefined) {
    return null;
  }
  return connects.split(", ").at(-1)?.trim() === "-" ? "connect-refused" : "cut";
}

/** No address was tried, as far as is known: the lab has put that in for a router that tells nothing. */
function isRoutersOwn({ upstream }: RequestRecord): boolean {
  return upstream?.startsWith("-|") === true;
}

/** `refused`: by a shim, which found that the copy did not listen any more; the router could only see a reset. */
function causeOf(request: RequestRecord, line: RouterLogRecord | null, refused: boolean): Cause | null {
  if (request.fate === "failed") {
    if (request.error === "TIMEOUT") {
      return "timeout";
    }
    // A balancer of layer 4 can tell its client nothing: a closed door behind it is a connection that ends.
    return request.error === "ECONNREFUSED" || line?.class === "connect-refused" || refused
      ? "connect-refused"
      : "cut";
  }
  if (refused) {
    return "connect-refused";
  }
  return causeInLog(line) ?? causeInUpstream(request) ?? (request.status === 504 ? "timeout" : null);
}

function serves(copy: CopyLife, atMs: number): boolean {
  const ready = copy.addedMs ?? copy.readyMs;
  const over = Math.min(
    copy.signalMs ?? Number.POSITIVE_INFINITY,
    copy.exitMs ?? Number.POSITIVE_INFINITY,
    copy.removedMs ?? Number.POSITIVE_INFINITY,
  );
  return ready !== null && ready <= atMs && atMs < over;
}

function portOfLine(line: RouterLogRecord | null): number | null {
  const port = /upstream: "?(?:https?:\/\/)?[^\s",/]*:(\d+)/.exec(line?.text ?? "")?.[1];
  return port === undefined ? null : Number(port);
}

/** Answers of the copies that were bad before the first stop signal. */
export interface Quiet {
  readonly clientErrors: boolean;
  readonly overload: boolean;
}

export interface Scene {
  readonly run: RunRecord | null;
  readonly timeline: Timeline;
  readonly attribution: Attribution;
  readonly quiet: Quiet;
  readonly workers: Workers;
  readonly quickestMs: number | null;
}

function awayAt(timeline: Timeline, atMs: number, copy: string | null): string | null {
  const span = timeline.restarts.find(({ life, replacement }) => {
    const outMs = Math.min(life.removedMs ?? Infinity, life.exitMs ?? Infinity);
    // What piled up meanwhile is not worked off at once.
    const slackMs = replacement?.name === copy ? 0 : THRESHOLDS.restartSlackMs;
    const backMs = (replacement?.addedMs ?? Infinity) + slackMs;
    return life.name !== copy && outMs <= atMs && atMs <= backMs;
  });
  return span?.life.name ?? null;
}

/** The copy that a request met: as told, else as the witness saw it, else by the router's log, else the only one that was leaving at that time. */
function copyOf(scene: Scene, { request, harm, line, seen }: Told): string | null {
  const { attribution, timeline } = scene;
  const port = portOfLine(line);
  if (harm === "masked") {
    // The one that failed, not the one that answered in its place; where the router names that alone, the one that was leaving.
    const tried = attribution.triedBy(request);
    if (tried.length > 1 || port !== null) {
      return (tried.length > 1 ? tried[0] : attribution.copyAtPort(port ?? 0, request.endedMs)) ?? null;
    }
    return leavingAlone(timeline, request);
  }
  const told = attribution.copyOf(request) ?? (seen === null || seen.copy === "" ? null : seen.copy);
  if (told !== null || port !== null) {
    return told ?? attribution.copyAtPort(port ?? 0, request.endedMs);
  }
  const good = request.fate === "answered" && (request.status ?? 0) < THRESHOLDS.failedFromStatus;
  // What was sent to nobody met nobody.
  if (good || line?.class === "no-upstream") {
    return null;
  }
  return leavingAlone(timeline, request);
}

/** The copy that was leaving at that time, if there was one only. */
function leavingAlone(timeline: Timeline, request: RequestRecord): string | null {
  const leaving = timeline.restarts.filter(
    (span) =>
      span.life.signalMs <= request.endedMs &&
      request.dispatchedMs <= Math.max(span.life.exitMs ?? Infinity, span.life.removedMs ?? 0),
  );
  return leaving.length === 1 ? (leaving[0]?.life.name ?? null) : null;
}

/** What the records say of one bad request. */
export interface Told {
  readonly request: RequestRecord;
  readonly harm: Harm;
  readonly line: RouterLogRecord | null;
  readonly stored: number | null;
  readonly seen: Arrivals | null;
  readonly unlogged: boolean;
}

export function factsOf(scene: Scene, told: Told): Facts {
  const { request, harm, line, stored, seen, unlogged } = told;
  const { run, timeline, attribution, quiet, workers } = scene;
  const copy = copyOf(scene, told);
  const life = timeline.copies.find((one) => one.name === copy) ?? null;
  const restart = restartOf(timeline, request, copy);
  const span = restart === null ? null : (timeline.restarts[restart] ?? null);
  const direct = run?.router === "none";
  const readyMs = life?.readyMs ?? life?.addedMs ?? null;
  const replaces = timeline.restarts.some((one) => one.replacement?.name === copy);
  const cause = causeOf(request, line, seen !== null && seen.worked === 0 && seen.refused);
  const { status } = request;
  return {
    request,
    harm,
    stored,
    copy,
    life,
    restart,
    leaving: span !== null && span.life.name === copy ? span : null,
    isNew: replaces && (readyMs === null || request.dispatchedMs <= readyMs + THRESHOLDS.coldCopyMs),
    someoneServed: timeline.copies.some((one) => serves(one, request.dispatchedMs)),
    cause,
    line,
    tried: attribution.triedBy(request),
    routerName: run?.router ?? "unknown",
    direct,
    http2AtRouter:
      !direct && request.protocol === "h2" && run?.parameters["pooledAtRemoval"] === "closed-when-idle",
    pooled: direct
      ? request.connection.reuse > 0
      : line?.text.includes("pooled connection") === true || run?.parameters["upstreamKeepAlive"] === true,
    byCopy:
      request.fate === "answered" &&
      (direct ||
        request.copy !== null ||
        (status !== 502 &&
          status !== 504 &&
          cause !== "no-upstream" &&
          line === null &&
          !isRoutersOwn(request))),
    told: request.upstream !== null && !isRoutersOwn(request),
    worked: stored ?? seen?.worked ?? null,
    seen,
    unlogged,
    quickestMs: scene.quickestMs,
    aliveAfter:
      life !== null && (life.exitMs === null || life.exitMs > request.endedMs + THRESHOLDS.exitJitterMs),
    away: awayAt(timeline, request.dispatchedMs, copy),
    afterFirstStop: (timeline.restarts[0]?.life.signalMs ?? Number.POSITIVE_INFINITY) < request.endedMs,
    quiet,
    workerTurn: copy === null ? null : workers.turn(copy, request.endedMs),
    elapsedMs: request.endedMs - (request.writtenMs ?? request.dispatchedMs),
    reloadsMs: timeline.reloadsMs,
  };
}
