/** Kinds that the failure catalogue does not list (from K45 on): what is no matter of restarts, and what is the lab's own. */

import type { Kind } from "./kind.ts";

export type BeyondSlug =
  | "unstored"
  | "crashed"
  | "service-error"
  | "client-error"
  | "router-error"
  | "garbage"
  | "slow"
  | "lab-limit"
  | "unexplained"
  | "clean-exit-after-cut"
  | "cut-by-router"
  | "message-lost";

export const BEYOND: Readonly<Record<BeyondSlug, Kind>> = {
  unstored: {
    id: "K45",
    title: "acknowledged, not stored",
    chargedTo: "service",
    signature: "The client has its 201, and the store has no row under the id.",
    why: "The client was told 201, and the store does not have it.",
    fix: "Answer after the commit, never before.",
    needs: "store",
  },
  crashed: {
    id: "K46",
    title: "copy ended by itself",
    chargedTo: "service",
    signature: "A copy exits though nobody had told it to, and what was at it fails at that instant.",
    why: "The copy exited though nobody had told it to.",
    fix: "Look at its exit code and its last lines: this is no matter of restarts.",
    needs: null,
  },
  "service-error": {
    id: "K47",
    title: "error from the service",
    chargedTo: "service",
    signature:
      "5xx made by a copy that is neither leaving nor new, or requests that such a copy cuts while it lives on.",
    why: "A copy that was neither leaving nor new answered with a status of 500 or above, or not at all.",
    fix: "Look into the service's log: this is no matter of restarts.",
    needs: null,
  },
  "client-error": {
    id: "K48",
    title: "refused as a wrong request",
    chargedTo: "service",
    signature: "4xx made by a copy, in the baseline too.",
    why: "The service answered with a status between 400 and 499.",
    fix: "Check path and body of the load's requests, and whether old and new copies agree on them.",
    needs: null,
  },
  "router-error": {
    id: "K49",
    title: "error from the router",
    chargedTo: "service",
    signature: "502, 503 or 504 made by the router, without a word in its log or a cause in time.",
    why: "The router answered with an error, and neither its log nor the timing says why.",
    fix: "Read the router's error log around this time.",
    needs: null,
  },
  garbage: {
    id: "K50",
    title: "not HTTP",
    chargedTo: "service",
    signature:
      "Bytes come back, and they are no HTTP response; through a router: 502, and 'invalid header' in its log.",
    why: "What came back is not an HTTP/1.1 response.",
    fix: "Check that the port belongs to the service, and that what it writes is HTTP.",
    needs: null,
  },
  slow: {
    id: "K51",
    title: "slow",
    chargedTo: "service",
    signature: "A good answer, much later than the baseline's, at a copy that is neither leaving nor new.",
    why: "The answer was good and much later than in the baseline, while no copy was leaving or new.",
    fix: "Look for what else the machine did; repeat the run.",
    needs: null,
  },
  "lab-limit": {
    id: "K52",
    title: "the lab's own limit",
    chargedTo: "lab",
    signature:
      "EMFILE, EADDRNOTAVAIL and their like, a router that cannot be reached at all, or answers that the router itself has kept for long.",
    why: "The load engine ran out of ports or file descriptors, or the router itself was not reachable or too late.",
    fix: "Lower the rate, raise `ulimit -n`, use keep-alive connections, or free the machine.",
    needs: null,
  },
  unexplained: {
    id: "K53",
    title: "unexplained",
    chargedTo: "service",
    signature: "No rule fits: the examples hold the whole trace.",
    why: "No rule fits.",
    fix: "Read the examples and the router's log; please report the ledger.",
    needs: null,
  },
  "clean-exit-after-cut": {
    id: "K54",
    title: "exit code 0 after a cut",
    chargedTo: "service",
    signature: "Requests were cut at the exit of a copy, and its exit code says that all was well.",
    why: "The platform, and whoever reads its events, cannot know that work was lost.",
    fix: "Exit with another code when work was left unfinished (lastcall uses 3).",
    needs: null,
  },
  "cut-by-router": {
    id: "K55",
    title: "cut by the router at the removal",
    chargedTo: "router",
    signature: "A request ends at the moment at which the router drops its copy, and the copy lives on.",
    why: "The balancer closed the connections to the copy, whatever they carried, when it took it out.",
    fix: "Let the balancer keep connections of a copy that it takes out until they are idle (connection draining).",
    needs: null,
  },
  "message-lost": {
    id: "K56",
    title: "message without an answer",
    chargedTo: "service",
    signature:
      "A WebSocket is closed in good order, and messages that the service had read before its close frame were never answered.",
    why: "The service said goodbye, or fell silent, with messages in its hands.",
    fix: "Answer what has come before the close frame is sent, and take no new message from the stop signal on.",
    needs: "webSockets",
  },
};
