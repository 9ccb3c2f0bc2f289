/** The JSON schema of a verdict, part by part; `verdict/verdict.ts` says what they mean. */

import {
  COUNT,
  counts,
  list,
  maybe,
  MS,
  NUMBER,
  object,
  TEXT,
  VALUES,
  YES,
  type Schema,
} from "./json-schema.ts";

const METHOD = object({ sent: COUNT, failed: COUNT });
const QUANTILES = { p50: MS, p99: MS, p999: MS, max: MS };
const EXPOSURE = { sent: COUNT, sentBad: COUNT, inFlight: COUNT, inFlightBad: COUNT };
const BOUND = object(
  { bad: COUNT, of: COUNT, upper95: maybe({ type: "number", minimum: 0, maximum: 1 }) },
  "bad of of; upper95 is the upper end of the one-sided 95 % interval of the share",
);
const HARMS = {
  truncated: COUNT,
  lost: COUNT,
  duplicated: COUNT,
  unstored: COUNT,
  masked: COUNT,
  slowed: COUNT,
};
const REQUEST_EXTRAS = {
  template: TEXT,
  uploaded: COUNT,
  events: COUNT,
  protocol: { enum: ["h2"] },
  webSocket: object({ sent: COUNT, answered: COUNT, crossed: COUNT, closeCode: maybe(COUNT) }),
};
const REQUEST_FIELDS = {
  kind: { const: "request" },
  id: TEXT,
  method: TEXT,
  path: TEXT,
  intendedMs: NUMBER,
  dispatchedMs: NUMBER,
  connectedMs: MS,
  writtenMs: MS,
  firstByteMs: MS,
  endedMs: NUMBER,
  fate: { enum: ["answered", "failed"] },
  status: maybe(COUNT),
  stage: maybe({ enum: ["connect", "write", "wait", "body"] }),
  error: maybe(TEXT),
  connection: object({
    id: COUNT,
    reuse: COUNT,
    ageMs: NUMBER,
    closedFirst: maybe({ enum: ["client", "server"] }),
  }),
  bytes: object({ promised: maybe(COUNT), got: COUNT }),
  copy: maybe(TEXT),
  upstream: maybe(TEXT),
};
const REQUEST = object(REQUEST_FIELDS, undefined, REQUEST_EXTRAS);
const CONFIDENCE: Schema = { enum: ["proven", "certain", "likely", "possible"] };
const BAD = object({
  request: REQUEST,
  harm: { enum: Object.keys(HARMS) },
  kind: TEXT,
  copy: maybe(TEXT),
  restart: maybe(COUNT),
  sinceSignalMs: MS,
  stored: maybe(COUNT),
  worked: maybe(COUNT),
  confidence: CONFIDENCE,
  evidence: TEXT,
});
const KIND = object({
  id: TEXT,
  slug: TEXT,
  title: TEXT,
  chargedTo: { enum: ["service", "router", "lab"] },
  count: COUNT,
  fails: YES,
  confidence: CONFIDENCE,
  evidence: TEXT,
  advice: TEXT,
  get: COUNT,
  post: COUNT,
  firstMs: NUMBER,
  lastMs: NUMBER,
  copies: counts("for each copy; ? where none is known"),
  restarts: list(COUNT),
  why: TEXT,
  examples: list(BAD),
});
const RESTART = object({
  copy: TEXT,
  signal: TEXT,
  signalMs: NUMBER,
  removedMs: MS,
  killedMs: MS,
  exitMs: MS,
  exitCode: maybe({ type: "integer" }),
  exitSignal: maybe(TEXT),
  replacement: maybe(object({ copy: TEXT, startedMs: NUMBER, readyMs: MS, addedMs: MS })),
  exposure: object(EXPOSURE),
  bad: COUNT,
});
const EVENT = object({
  kind: { const: "event" },
  atMs: NUMBER,
  source: { enum: ["lab", "target", "router"] },
  copy: maybe(TEXT),
  event: TEXT,
  detail: VALUES,
});

const OUTCOME: Schema = { enum: ["pass", "fail", "invalid"] };
export const TRIAL: Schema = object(
  {
    factor: TEXT,
    words: TEXT,
    outcome: OUTCOME,
    before: COUNT,
    after: COUNT,
    vanished: list(TEXT),
    proves: list(TEXT),
    folder: TEXT,
  },
  "a rerun with one factor changed: bad requests before and after, and the kinds that vanished with it",
);
export const CONTROL: Schema = object(
  {
    name: { enum: ["hard-kill", "no-delay"] },
    words: TEXT,
    outcome: OUTCOME,
    bad: COUNT,
    sent: COUNT,
    folder: TEXT,
  },
  "a rerun that must show losses",
);
export const VERDICT: Schema = object({
  schema: { const: "lastcall.verdict/1" },
  outcome: OUTCOME,
  headline: TEXT,
  invalid: list(TEXT),
  run: object({
    scenario: TEXT,
    seed: NUMBER,
    at: TEXT,
    router: TEXT,
    command: list(TEXT),
    parameters: VALUES,
    ended: maybe({ enum: ["finished", "interrupted", "failed"] }),
    durationMs: NUMBER,
  }),
  requests: object({
    sent: COUNT,
    good: COUNT,
    bad: COUNT,
    get: METHOD,
    post: METHOD,
    byHarm: object(HARMS),
    byCharge: object({ service: COUNT, router: COUNT, lab: COUNT }),
    byAnswer: counts("answers by status, failures by stage and error"),
  }),
  latency: object({
    ...QUANTILES,
    slowAbsolute: COUNT,
    slowAbsoluteLimitMs: NUMBER,
    baselineP999: MS,
    slowLimitMs: NUMBER,
  }),
  dispatchLag: object({ ...QUANTILES, limitP99Ms: NUMBER }),
  kinds: list(KIND),
  notLookedFor: list(object({ id: TEXT, slug: TEXT, needs: TEXT })),
  store: object({
    checked: YES,
    acknowledged: COUNT,
    rows: COUNT,
    equal: YES,
    unstored: list(TEXT),
    inDoubt: list(TEXT),
    duplicated: list(object({ id: TEXT, times: COUNT })),
    foreign: COUNT,
  }),
  witness: maybe(
    object({
      arrivals: COUNT,
      lostBeforeWork: COUNT,
      lostDuringWork: COUNT,
      lostAfterWork: COUNT,
      begunTwice: COUNT,
      executedTwice: list(TEXT),
    }),
  ),
  webSockets: maybe(
    object({
      asked: COUNT,
      opened: COUNT,
      cameBack: COUNT,
      cut: COUNT,
      closeCodes: counts("close frames of the service that came before the client's, by code"),
      messages: COUNT,
      answered: COUNT,
      crossed: COUNT,
      unanswered: COUNT,
    }),
  ),
  http2: maybe(object({ sent: COUNT, failed: COUNT, refused: COUNT })),
  restarts: list(RESTART),
  exposure: object({ ...EXPOSURE, unattributed: COUNT }),
  bounds: object({ perRestart: BOUND, perExposed: BOUND }),
  advice: object({
    routerLagMs: MS,
    longestRequestMs: MS,
    teardownMs: MS,
    startMs: MS,
    settings: object({ drainDelayMs: MS, gracefulTimeoutMs: MS, teardownTimeoutMs: MS, gracePeriodMs: MS }),
    steps: list(TEXT),
  }),
  routerLog: counts("lines of the router's error log by class"),
  timeline: list(EVENT),
  trials: list(TRIAL),
  controls: list(CONTROL),
});
