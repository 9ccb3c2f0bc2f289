/** The kinds of bad requests: one entry each, with its number in the failure catalogue, who has to change something, and what. */

import type { ChargedTo } from "./verdict.ts";

export interface Kind {
  /** `K01` to `K44`; null for what the catalogue does not list. */
  readonly number: string | null;
  readonly title: string;
  readonly chargedTo: ChargedTo;
  readonly why: string;
  readonly fix: string;
}

export type KindSlug =
  | "closed-door"
  | "in-flight-cut"
  | "keep-alive-race"
  | "truncated"
  | "killed"
  | "refused-by-gate"
  | "wrong-order"
  | "accept-queue"
  | "outage"
  | "blocked-loop"
  | "not-ready-yet"
  | "cold-copy"
  | "connect-retry"
  | "router-reload"
  | "masked-by-retry"
  | "duplicated"
  | "timeout"
  | "unstored"
  | "crashed"
  | "service-error"
  | "client-error"
  | "router-error"
  | "garbage"
  | "slow"
  | "lab-limit"
  | "unexplained";

export const KINDS: Readonly<Record<KindSlug, Kind>> = {
  "closed-door": {
    number: "K01",
    title: "closed door",
    chargedTo: "service",
    why: "The copy closed its listener while the router still sent it new requests.",
    fix: "Keep serving for longer than the router's lag: set a drain delay.",
  },
  "in-flight-cut": {
    number: "K02",
    title: "in-flight cut",
    chargedTo: "service",
    why: "The copy exited while it worked on the request.",
    fix: "On the stop signal, finish what is in flight before the exit.",
  },
  "keep-alive-race": {
    number: "K03",
    title: "keep-alive race",
    chargedTo: "service",
    why: "An idle pooled connection was closed at the moment when the next request was sent on it.",
    fix: "Answer with `Connection: close` first and let the other side close; keep idle connections longer than the router does.",
  },
  truncated: {
    number: "K07",
    title: "truncated answer",
    chargedTo: "service",
    why: "The answer began, and its body ended before its promised length or its last chunk.",
    fix: "Let answers that have begun end before the exit; give them a longer graceful timeout.",
  },
  killed: {
    number: "K12",
    title: "killed at the end of the grace period",
    chargedTo: "service",
    why: "The copy had not exited when its grace period was over, and SIGKILL cut what it worked on.",
    fix: "Give the drain a deadline inside the grace period, or raise the grace period.",
  },
  "refused-by-gate": {
    number: "K16",
    title: "refused while draining",
    chargedTo: "service",
    why: "The copy answered 503 while the router still sent it requests.",
    fix: "Keep serving through the drain delay and only turn readiness; make the delay longer than the router's lag.",
  },
  "wrong-order": {
    number: "K17",
    title: "error while draining",
    chargedTo: "service",
    why: "The copy answered with an error between its stop signal and its exit: something that the request needed was closed first.",
    fix: "Close in this order: listener, requests, then pools and files.",
  },
  "accept-queue": {
    number: "K18",
    title: "lost in the accept queue",
    chargedTo: "service",
    why: "A new connection was made and reset before anybody read from it: its listener closed with it in the queue.",
    fix: "Empty the accept queue before the listener closes, and close it after the router has moved on.",
  },
  outage: {
    number: "K19",
    title: "no copy to take it",
    chargedTo: "service",
    why: "At that moment no copy was in the router's rotation and serving.",
    fix: "Start the new copy and wait for its readiness before the last old one stops.",
  },
  "blocked-loop": {
    number: "K23",
    title: "blocked while leaving",
    chargedTo: "service",
    why: "A copy that was leaving took the request and did not answer in time.",
    fix: "Do no synchronous work on the stop signal; cancel what takes long.",
  },
  "not-ready-yet": {
    number: "K24",
    title: "new copy not ready",
    chargedTo: "service",
    why: "The new copy got requests before it could serve them.",
    fix: "Let readiness say 200 only when the service listens and its dependencies answer.",
  },
  "cold-copy": {
    number: "K25",
    title: "cold copy",
    chargedTo: "service",
    why: "A new copy answered its first requests slowly.",
    fix: "Warm it up before readiness says 200, or let the router raise its share slowly.",
  },
  "connect-retry": {
    number: "K26",
    title: "connection made at the second try",
    chargedTo: "service",
    why: "The handshake was lost and repeated after a second: a listen queue was full or a listener changed hands.",
    fix: "Raise the backlog, and spread reconnects over the drain delay.",
  },
  "router-reload": {
    number: "K31",
    title: "dropped by the router's reload",
    chargedTo: "router",
    why: "The router closed an idle client connection at its own reload while the client sent the next request on it.",
    fix: "Change the set of upstreams without a reload, or let clients repeat a request that got no byte.",
  },
  "masked-by-retry": {
    number: "K33",
    title: "masked by a retry",
    chargedTo: "service",
    why: "The first copy failed and the router asked another: the client saw nothing, but a POST would not have been retried.",
    fix: "Do not rely on the router's retries: set a drain delay.",
  },
  duplicated: {
    number: "K35",
    title: "executed twice",
    chargedTo: "service",
    why: "The service stored the same id more than once: somebody repeated a request that had been executed.",
    fix: "Make the handler idempotent under its key, and let the router repeat only what was never sent.",
  },
  timeout: {
    number: "K42",
    title: "no answer in time",
    chargedTo: "service",
    why: "No whole answer came before the timeout of the client or of the router.",
    fix: "Compare the timeouts of all layers with the longest request.",
  },
  unstored: {
    number: null,
    title: "acknowledged, not stored",
    chargedTo: "service",
    why: "The client was told 201, and the store does not have it.",
    fix: "Answer after the commit, never before.",
  },
  crashed: {
    number: null,
    title: "copy ended by itself",
    chargedTo: "service",
    why: "The copy exited though nobody had told it to.",
    fix: "Look at its exit code and its last lines: this is no matter of restarts.",
  },
  "service-error": {
    number: null,
    title: "error from the service",
    chargedTo: "service",
    why: "A copy that was neither leaving nor new answered with a status of 500 or above.",
    fix: "Look into the service's log: this is no matter of restarts.",
  },
  "client-error": {
    number: null,
    title: "refused as a wrong request",
    chargedTo: "service",
    why: "The service answered with a status between 400 and 499.",
    fix: "Check path and body of the load's requests, and whether old and new copies agree on them.",
  },
  "router-error": {
    number: null,
    title: "error from the router",
    chargedTo: "service",
    why: "The router answered with an error, and neither its log nor the timing says why.",
    fix: "Read the router's error log around this time.",
  },
  garbage: {
    number: null,
    title: "not HTTP",
    chargedTo: "service",
    why: "What came back is not an HTTP/1.1 response.",
    fix: "Check that the port belongs to the service.",
  },
  slow: {
    number: null,
    title: "slow",
    chargedTo: "service",
    why: "The answer was good and much later than in the baseline, while no copy was leaving or new.",
    fix: "Look for what else the machine did; repeat the run.",
  },
  "lab-limit": {
    number: null,
    title: "the lab's own limit",
    chargedTo: "lab",
    why: "The load engine ran out of ports or file descriptors, or the router itself was not reachable.",
    fix: "Lower the rate, raise `ulimit -n`, or use keep-alive connections.",
  },
  unexplained: {
    number: null,
    title: "unexplained",
    chargedTo: "service",
    why: "No rule fits.",
    fix: "Read the examples and the router's log; please report the ledger.",
  },
};
