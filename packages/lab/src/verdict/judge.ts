/**
 * From the stream of records to the verdict. One pass keeps a few numbers for each request and the whole record only of
 * what may be bad; the rest is decided at the end, when all events are known, so the order of the records does not matter.
 */

import type {
  EndRecord,
  EventRecord,
  LedgerRecord,
  RequestRecord,
  RouterLogRecord,
  RunRecord,
} from "../ledger/records.ts";
import { adviceOf } from "./advice.ts";
import { attributionOf, triedPorts } from "./attribution.ts";
import { bound } from "./bounds.ts";
import { classify } from "./classify.ts";
import { exposures, sumOf, type RequestColumns } from "./exposure.ts";
import { factsOf, type Scene } from "./facts.ts";
import { headlineOf } from "./headline.ts";
import { KINDS, type KindSlug } from "./kinds.ts";
import { createRouterWords } from "./router-words.ts";
import { Series, quantile, quantiles } from "./series.ts";
import { createStore } from "./store.ts";
import { tallyKinds } from "./tally.ts";
import { THRESHOLDS } from "./thresholds.ts";
import { readTimeline } from "./timeline.ts";
import type { BadRequest, ChargedTo, Harm, Restart, Verdict } from "./verdict.ts";

export interface Judge {
  add(record: LedgerRecord): void;
  /** The verdict on all that was added. */
  verdict(): Verdict;
}

interface Suspect {
  readonly row: number;
  readonly request: RequestRecord;
  /** `slowed` here means that it may be: the limit is known at the end. */
  readonly harm: Harm;
}

function suspicion(request: RequestRecord): Harm | null {
  if (request.fate === "failed") {
    return request.stage === "body" ? "truncated" : "lost";
  }
  if ((request.status ?? 0) >= THRESHOLDS.failedFromStatus) {
    return "lost";
  }
  if (request.upstream !== null && triedPorts(request.upstream).length > 1) {
    return "masked";
  }
  const late = request.endedMs - request.intendedMs > THRESHOLDS.slowOverBaselineMs;
  return late || retriedConnect(request) ? "slowed" : null;
}

function retriedConnect(request: RequestRecord): boolean {
  return (request.connectedMs ?? request.endedMs) - request.dispatchedMs >= THRESHOLDS.connectRetryMs;
}

export function createJudge(): Judge {
  let run: RunRecord | null = null;
  let end: EndRecord | null = null;
  let lastMs = 0;
  let longestMs: number | null = null;
  let slowAbsolute = 0;
  const events: EventRecord[] = [];
  const log: RouterLogRecord[] = [];
  const suspects: Suspect[] = [];
  const store = createStore();
  const dispatchedMs = new Series();
  const endedMs = new Series();
  const latency = new Series();
  const lag = new Series();
  /** Who answered, as said by the answer: an index into `voices`, or -1. */
  const voice = new Series();
  const voices = new Map<string, { readonly index: number; readonly request: RequestRecord }>();
  const byAnswer: Record<string, number> = {};
  const methods = { get: { sent: 0, failed: 0 }, post: { sent: 0, failed: 0 } };

  function voiceOf(request: RequestRecord): number {
    if (request.copy === null && request.upstream === null) {
      return -1;
    }
    // A port may pass from one copy to another, so with ports the answer belongs to a moment: one voice a second is enough.
    const key =
      request.copy ?? `${triedPorts(request.upstream).at(-1)}@${Math.floor(request.endedMs / 1000)}`;
    const known = voices.get(key);
    if (known !== undefined) {
      return known.index;
    }
    voices.set(key, { index: voices.size, request });
    return voices.size - 1;
  }

  function addRequest(request: RequestRecord): void {
    const row = endedMs.length;
    const latencyMs = request.endedMs - request.intendedMs;
    dispatchedMs.push(request.dispatchedMs);
    endedMs.push(request.endedMs);
    latency.push(latencyMs);
    lag.push(request.dispatchedMs - request.intendedMs);
    voice.push(voiceOf(request));
    const answer = request.fate === "answered" ? String(request.status) : `${request.stage} ${request.error}`;
    byAnswer[answer] = (byAnswer[answer] ?? 0) + 1;
    const harm = suspicion(request);
    const failed = harm === "lost" || harm === "truncated";
    const method = request.method === "GET" ? methods.get : methods.post;
    method.sent += 1;
    method.failed += failed ? 1 : 0;
    if (request.method !== "GET") {
      store.posted(request, row);
    }
    if (harm !== null) {
      suspects.push({ row, request, harm });
    }
    if (!failed) {
      longestMs = Math.max(longestMs ?? 0, request.endedMs - request.dispatchedMs);
      slowAbsolute += latencyMs > THRESHOLDS.slowAbsoluteMs ? 1 : 0;
    }
  }

  function add(record: LedgerRecord): void {
    switch (record.kind) {
      case "run":
        run = record;
        return;
      case "request":
        addRequest(record);
        lastMs = Math.max(lastMs, record.endedMs);
        return;
      case "event":
        events.push(record);
        lastMs = Math.max(lastMs, record.atMs);
        return;
      case "router-log":
        log.push(record);
        return;
      case "executed":
        store.executed(record);
        return;
      case "end":
        end = record;
        lastMs = Math.max(lastMs, record.atMs);
        if (record.rows !== undefined && record.rows !== null) {
          store.wasRead();
        }
    }
  }

  /** p99.9 of what ended before the first stop signal. */
  function baselineP999(firstSignalMs: number): number | null {
    const baseline = new Series();
    for (let row = 0; row < endedMs.length; row += 1) {
      if (endedMs.at(row) < firstSignalMs) {
        baseline.push(latency.at(row));
      }
    }
    return quantile(baseline.sorted(), 0.999);
  }

  /** The suspects that are bad indeed, by row, in the order of their ends. */
  function badOnes(slowLimitMs: number): readonly Suspect[] {
    const byRow = new Map<number, Suspect>();
    for (const suspect of suspects) {
      const { request, harm, row } = suspect;
      if (
        harm !== "slowed" ||
        request.endedMs - request.intendedMs > slowLimitMs ||
        retriedConnect(request)
      ) {
        byRow.set(row, suspect);
      }
    }
    for (const { request, row, rows } of store.contradictions()) {
      // A stronger word than masked or slowed; the request was answered well, so it is neither lost nor truncated.
      byRow.set(row, { request, row, harm: rows > 1 ? "duplicated" : "unstored" });
    }
    return [...byRow.values()].toSorted((a, b) => a.request.endedMs - b.request.endedMs);
  }

  function verdict(): Verdict {
    const timeline = readTimeline(events);
    const attribution = attributionOf(timeline);
    const scene: Scene = { run, timeline, attribution };
    const firstSignalMs = timeline.restarts[0]?.life.signalMs ?? Number.POSITIVE_INFINITY;
    const p999 = baselineP999(firstSignalMs);
    const slowLimitMs = p999 === null ? THRESHOLDS.slowAbsoluteMs : p999 + THRESHOLDS.slowOverBaselineMs;

    const copyIndex = new Map(timeline.copies.map((copy, index) => [copy.name, index]));
    const indexOf = (name: string | null): number => (name === null ? -1 : (copyIndex.get(name) ?? -1));
    const copyOfVoice = [...voices.values()].map(({ request }) => indexOf(attribution.copyOf(request)));
    const words = createRouterWords(log);
    const badRows = new Map<number, BadRequest>();
    for (const { row, request, harm } of badOnes(slowLimitMs)) {
      const askRouter = harm === "lost" || harm === "truncated" || harm === "masked";
      const facts = factsOf(
        scene,
        request,
        harm,
        askRouter ? words.take(request) : null,
        store.timesStored(request),
      );
      const { kind, evidence } = classify(facts);
      const t0 = facts.restart === null ? null : (timeline.restarts[facts.restart]?.life.signalMs ?? null);
      badRows.set(row, {
        request,
        harm,
        kind,
        copy: facts.copy,
        restart: facts.restart,
        sinceSignalMs: t0 === null ? null : request.dispatchedMs - t0,
        stored: facts.stored,
        evidence,
      });
    }
    const bad = [...badRows.values()];
    const columns: RequestColumns = {
      dispatchedMs,
      endedMs,
      copyOf: (row) => {
        const known = badRows.get(row);
        return known === undefined ? (copyOfVoice[voice.at(row)] ?? -1) : indexOf(known.copy);
      },
      isBad: (row) => badRows.has(row),
    };

    const exposed = exposures(
      columns,
      timeline.restarts.map((span) => ({ span, copy: indexOf(span.life.name) })),
    );
    const restarts = timeline.restarts.map((span, index): Restart => {
      const { life, replacement } = span;
      return {
        copy: life.name,
        signal: life.signal,
        signalMs: life.signalMs,
        removedMs: life.removedMs,
        killedMs: life.killedMs,
        exitMs: life.exitMs,
        exitCode: life.exitCode,
        exitSignal: life.exitSignal,
        replacement:
          replacement === null
            ? null
            : {
                copy: replacement.name,
                startedMs: replacement.startedMs,
                readyMs: replacement.readyMs,
                addedMs: replacement.addedMs,
              },
        exposure: exposed[index] ?? sumOf([]),
        bad: bad.filter((one) => one.restart === index).length,
      };
    });
    const exposure = sumOf(exposed);

    const byHarm: Record<Harm, number> = {
      truncated: 0,
      lost: 0,
      duplicated: 0,
      unstored: 0,
      masked: 0,
      slowed: 0,
    };
    const byCharge: Record<ChargedTo, number> = { service: 0, router: 0, lab: 0 };
    const shaken = new Set<number>();
    for (const { harm, kind, restart } of bad) {
      const { chargedTo } = KINDS[kind as KindSlug];
      byHarm[harm] += 1;
      byCharge[chargedTo] += 1;
      if (restart !== null && chargedTo === "service") {
        shaken.add(restart);
      }
    }
    const kinds = tallyKinds(bad);
    const lags = quantiles(lag);
    const sent = endedMs.length;
    const invalid = reasonsToDoubt(sent, lags.p99, byCharge.lab, restarts.length);
    const unattributed = unattributedOf(columns);
    const body: Omit<Verdict, "headline"> = {
      schema: "lastcall.verdict/1",
      outcome: invalid.length > 0 ? "invalid" : byCharge.service > 0 ? "fail" : "pass",
      invalid,
      run: {
        scenario: run?.scenario ?? "unknown",
        seed: run?.seed ?? 0,
        at: run?.at ?? "",
        router: run?.router ?? "unknown",
        command: run?.command ?? [],
        parameters: run?.parameters ?? {},
        ended: end?.reason ?? null,
        durationMs: lastMs,
      },
      requests: {
        sent,
        good: sent - bad.length,
        bad: bad.length,
        get: { ...methods.get },
        post: { ...methods.post },
        byHarm,
        byCharge,
        byAnswer: { ...byAnswer },
      },
      latency: {
        ...quantiles(latency),
        slowAbsolute,
        slowAbsoluteLimitMs: THRESHOLDS.slowAbsoluteMs,
        baselineP999: p999,
        slowLimitMs,
      },
      dispatchLag: { ...lags, limitP99Ms: THRESHOLDS.dispatchLagP99Ms },
      kinds,
      store: store.verdict(),
      restarts,
      exposure: { ...exposure, unattributed },
      bounds: {
        perRestart: bound(shaken.size, restarts.length),
        perExposed: bound(exposure.sentBad, exposure.sent),
      },
      advice: adviceOf(
        run,
        timeline,
        columns,
        longestMs,
        kinds.map((kind) => kind.slug as KindSlug),
      ),
      routerLog: countBy(log.map((line) => line.class)),
      timeline: events.toSorted((a, b) => a.atMs - b.atMs),
    };
    return { headline: headlineOf(body), ...body };
  }

  function reasonsToDoubt(
    sent: number,
    lagP99Ms: number | null,
    labFailures: number,
    restarts: number,
  ): readonly string[] {
    const reasons: string[] = [];
    if (end === null) {
      reasons.push("the ledger has no end: the run was cut off");
    } else if (end.reason !== "finished") {
      reasons.push(
        end.reason === "interrupted" ? "the run was interrupted" : "the run failed before its end",
      );
    }
    if (sent === 0) {
      reasons.push("no request was sent");
    } else if (restarts === 0) {
      reasons.push("no copy was told to stop while the load ran: nothing was put to the test");
    }
    if (lagP99Ms !== null && lagP99Ms > THRESHOLDS.dispatchLagP99Ms) {
      reasons.push(
        `requests were sent late: the dispatch lag's p99 was ${Math.round(lagP99Ms)} ms (limit ${THRESHOLDS.dispatchLagP99Ms} ms); lower the rate or free the machine`,
      );
    }
    if (labFailures > 0) {
      reasons.push(`${labFailures} requests failed for want of the lab's own ports, files or router`);
    }
    return reasons;
  }

  return { add, verdict };
}

function unattributedOf(columns: RequestColumns): number {
  let unattributed = 0;
  for (let row = 0; row < columns.endedMs.length; row += 1) {
    unattributed += columns.copyOf(row) < 0 ? 1 : 0;
  }
  return unattributed;
}

function countBy(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) {
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

/** Judges a whole stream: a ledger from its file, or records that are at hand. */
export async function judgeStream(
  records: AsyncIterable<LedgerRecord> | Iterable<LedgerRecord>,
): Promise<Verdict> {
  const judge = createJudge();
  for await (const record of records) {
    judge.add(record);
  }
  return judge.verdict();
}
