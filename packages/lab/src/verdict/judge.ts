/** From the stream of records to the verdict: collect in one pass, then decide, part by part, when all is known. */

import { readLedger } from "../ledger/reader.ts";
import type { LedgerRecord, RouterLogRecord } from "../ledger/records.ts";
import { adviceOf, isUntold, leftEarly, stepFor } from "./advice.ts";
import { attributionOf } from "./attribution.ts";
import { badRequests } from "./bad-requests.ts";
import { bound } from "./bounds.ts";
import { withBursts } from "./bursts.ts";
import { createCollector, type Collection } from "./collection.ts";
import { countUnattributed, exposures, sumOf, type Attributed } from "./exposure.ts";
import { findingsOf } from "./findings.ts";
import { headlineOf } from "./headline.ts";
import { KINDS, type KindSlug } from "./kinds.ts";
import { notLookedFor } from "./not-looked-for.ts";
import { quantile, quantilesOf } from "./quantiles.ts";
import { COLUMN } from "./request-table.ts";
import { withReruns } from "./reruns.ts";
import { withSingledOut } from "./singled-out.ts";
import { countBy, tallyCharges, tallyHarms, tallyKinds } from "./tally.ts";
import { THRESHOLDS } from "./thresholds.ts";
import { readTimeline, type RestartSpan, type Timeline } from "./timeline.ts";
import { latestRemovalMs, reasonsToDoubt, stallsIn } from "./validity.ts";
import { witnessVerdict } from "./witness.ts";
import type { BadRequest, Exposure, Restart, Verdict } from "./verdict.ts";

/** The verdict with what it was made from: whoever draws pictures of a run needs every request. */
export interface Judged extends Attributed {
  readonly verdict: Verdict;
  readonly timeline: Timeline;
  /** Keyed by row. */
  readonly bad: ReadonlyMap<number, BadRequest>;
  readonly log: readonly RouterLogRecord[];
  /** By row, from the intended time to the end, or to the first byte of a stream. */
  readonly latenciesMs: Float64Array;
}

export interface Judge {
  add(record: LedgerRecord): void;
  /** The verdict on all that was added. */
  verdict(): Verdict;
  judged(): Judged;
}

export function createJudge(): Judge {
  const { collection, add } = createCollector();
  return { add, verdict: () => decide(collection).verdict, judged: () => decide(collection) };
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

/** Judges a run again from its ledger's file. */
export async function judgeLedger(
  file: string,
): Promise<{ readonly verdict: Verdict; readonly tornLine: number | null }> {
  const judge = createJudge();
  const reader = readLedger(file);
  for await (const batch of reader.batches) {
    for (const record of batch) {
      judge.add(record);
    }
  }
  return { verdict: judge.verdict(), tornLine: reader.tornLine() };
}

/** p99.9 of what ended before the first stop signal. */
function baselineP999(all: Collection, timeline: Timeline, latenciesMs: Float64Array): number | null {
  const firstSignalMs = timeline.restarts[0]?.life.signalMs ?? Number.POSITIVE_INFINITY;
  const before = latenciesMs.filter((_, row) => all.requests.value(row, COLUMN.endedMs) < firstSignalMs);
  return quantile(before.toSorted(), 0.999);
}

function latenciesOf({ requests, answeredAtMs }: Collection): Float64Array {
  const endMs = (row: number): number =>
    (answeredAtMs.size === 0 ? undefined : answeredAtMs.get(row)) ?? requests.value(row, COLUMN.endedMs);
  return requests.map((row) => endMs(row) - requests.value(row, COLUMN.intendedMs));
}

function lagsOf({ requests }: Collection): Float64Array {
  return requests.map(
    (row) => requests.value(row, COLUMN.dispatchedMs) - requests.value(row, COLUMN.intendedMs),
  );
}

function restartVerdict(span: RestartSpan, exposure: Exposure, bad: number): Restart {
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
    exposure,
    bad,
  };
}

function attributedOf(
  all: Collection,
  timeline: Timeline,
  bad: ReadonlyMap<number, BadRequest>,
): Attributed & { readonly indexOf: (name: string | null) => number } {
  const { copyOf } = attributionOf(timeline);
  const index = new Map(timeline.copies.map((copy, at) => [copy.name, at]));
  const indexOf = (name: string | null): number => (name === null ? -1 : (index.get(name) ?? -1));
  const byVoice = all.voices.map((request) => indexOf(copyOf(request)));
  const copies = Int32Array.from(
    { length: all.requests.length },
    (_, row) => byVoice[all.voiceOfRow.at(row)] ?? -1,
  );
  const blamed = new Uint8Array(all.requests.length);
  for (const [row, one] of bad) {
    copies[row] = indexOf(one.copy);
    // What the router dropped at its reload is no proof against a copy.
    blamed[row] = KINDS[one.kind as KindSlug].chargedTo === "service" ? 1 : 0;
  }
  return {
    indexOf,
    requests: all.requests,
    copyOf: (row) => copies[row] ?? -1,
    isBad: (row) => blamed[row] === 1,
  };
}

function decide(all: Collection): Judged {
  const { run, end, methods } = all;
  const timeline = readTimeline(all.events);
  const latenciesMs = latenciesOf(all);
  const p999 = baselineP999(all, timeline, latenciesMs);
  const slowLimitMs = p999 === null ? THRESHOLDS.slowAbsoluteMs : p999 + THRESHOLDS.slowOverBaselineMs;
  const judged = badRequests(all, { run, timeline, attribution: attributionOf(timeline) }, slowLimitMs);
  const attributed = attributedOf(all, timeline, judged);
  // A second look, over all of them together: what is charged to the service stays charged to it.
  const badByRow = withBursts(
    withSingledOut(judged, run, timeline, attributed),
    timeline.restarts[0]?.life.signalMs ?? Number.POSITIVE_INFINITY,
  );
  const bad = [...badByRow.values()];
  const exposed = exposures(
    attributed,
    timeline.restarts.map((span) => ({ span, copy: attributed.indexOf(span.life.name) })),
  );
  const exposure = sumOf(exposed);
  const measured = adviceOf(run, timeline, attributed, all.longestMs);
  const doubts = { early: leftEarly(run, timeline), untold: isUntold(run, timeline) };
  const kinds = tallyKinds(bad, findingsOf(run, timeline, attributed, bad), (kind) =>
    stepFor(kind, measured, doubts),
  );
  const byCharge = tallyCharges(bad);
  const sent = all.requests.length;
  const lag = quantilesOf(lagsOf(all));
  const shaken = new Set(
    kinds.filter((kind) => kind.count > 0 && kind.chargedTo === "service").flatMap((kind) => kind.restarts),
  );
  const invalid = reasonsToDoubt({
    end,
    sent,
    restarts: timeline.restarts.length,
    dispatchLagP99Ms: lag.p99,
    stalls: stallsIn(all.events),
    removalLateMs: latestRemovalMs(run, timeline.restarts),
    labFailures: byCharge.lab,
  });
  const body: Omit<Verdict, "headline"> = {
    schema: "lastcall.verdict/1",
    outcome: invalid.length > 0 ? "invalid" : kinds.some((kind) => kind.fails) ? "fail" : "pass",
    invalid,
    run: {
      scenario: run?.scenario ?? "unknown",
      seed: run?.seed ?? 0,
      at: run?.at ?? "",
      router: run?.router ?? "unknown",
      command: run?.command ?? [],
      parameters: run?.parameters ?? {},
      ended: end?.reason ?? null,
      durationMs: all.lastMs,
    },
    requests: {
      sent,
      good: sent - bad.length,
      bad: bad.length,
      get: { ...methods.get },
      post: { ...methods.post },
      byHarm: tallyHarms(bad),
      byCharge,
      byAnswer: Object.fromEntries(all.answers),
    },
    latency: {
      ...quantilesOf(latenciesMs),
      slowAbsolute: all.slowAbsolute,
      slowAbsoluteLimitMs: THRESHOLDS.slowAbsoluteMs,
      baselineP999: p999,
      slowLimitMs,
    },
    dispatchLag: { ...lag, limitP99Ms: THRESHOLDS.dispatchLagP99Ms },
    kinds,
    notLookedFor: notLookedFor(all),
    store: all.store.verdict(),
    witness: witnessVerdict(all, bad),
    webSockets: all.webSockets,
    http2: all.http2,
    restarts: timeline.restarts.map((span, index) =>
      restartVerdict(span, exposed[index] ?? sumOf([]), bad.filter((one) => one.restart === index).length),
    ),
    exposure: { ...exposure, unattributed: countUnattributed(attributed) },
    bounds: {
      perRestart: bound(shaken.size, timeline.restarts.length),
      perExposed: bound(exposure.sentBad, exposure.sent),
    },
    advice: { ...measured, steps: [...new Set(kinds.map((kind) => kind.advice))] },
    routerLog: countBy(all.log, (line) => line.class),
    timeline: all.events.toSorted((a, b) => a.atMs - b.atMs),
    trials: [],
    controls: [],
  };
  const verdict = withReruns({ headline: headlineOf(body), ...body }, all.trials, all.controls);
  return { ...attributed, verdict, timeline, bad: badByRow, log: all.log, latenciesMs };
}
