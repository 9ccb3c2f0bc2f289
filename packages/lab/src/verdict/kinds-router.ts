/** Kinds at the router and the network (K31 to K42), and of long-lived and background work (K43, K44). */

import type { Kind } from "./kind.ts";

export type RouterSlug =
  | "router-reload"
  | "router-port-reuse"
  | "masked-by-retry"
  | "not-retried"
  | "duplicated"
  | "slow-deregistration"
  | "black-hole"
  | "node-black-hole"
  | "weights-lag"
  | "provider-lag"
  | "affinity"
  | "timeout"
  | "stream-cut"
  | "job-lost";

export const AT_THE_ROUTER: Readonly<Record<RouterSlug, Kind>> = {
  "router-reload": {
    id: "K31",
    title: "dropped by the router's reload",
    chargedTo: "router",
    signature:
      "A reused client connection ends without a byte at the moment of a reload; the router's access log has no line of it.",
    why: "The router closed an idle client connection at its own reload while the client sent the next request on it.",
    fix: "Change the set of upstreams without a reload, or let clients repeat a request that got no byte.",
    needs: "reload",
  },
  "router-port-reuse": {
    id: "K32",
    title: "new connection dropped by a reload",
    chargedTo: "router",
    signature:
      "A new client connection is reset without a byte at the moment of HAProxy's or Caddy's reload; the router's log has no line of it.",
    why: "The reloading router reset a connection that it had just taken (HAProxy: one whose port it still knew; Caddy: one between its old and its new configuration).",
    fix: "Change servers without a reload (HAProxy's runtime socket, the router's own health checks), or let clients repeat a request that got no byte.",
    needs: "reload",
  },
  "masked-by-retry": {
    id: "K33",
    title: "masked by a retry",
    chargedTo: "service",
    signature:
      "A good answer, and two copies in the router's list of tries; often later than the others by a timeout.",
    why: "The first copy failed and the router asked another: the client saw nothing, but a POST that had reached the first one would not have been retried.",
    fix: "Do not rely on the router's retries: set a drain delay.",
    needs: "retries",
  },
  "not-retried": {
    id: "K34",
    title: "only POSTs were lost",
    chargedTo: "service",
    signature: "At the same instants GETs come back well and POSTs do not.",
    why: "The router repeats what is safe to repeat, and a POST that was sent is not: its retries hide the loss of GETs only.",
    fix: "Do not rely on the router's retries: set a drain delay.",
    needs: "retries",
  },
  duplicated: {
    id: "K35",
    title: "executed twice",
    chargedTo: "service",
    signature: "Every client is content, and the store has one id more than once.",
    why: "The service stored the same id more than once: somebody repeated a request that had been executed.",
    fix: "Make the handler idempotent under its key, and let the router repeat only what was never sent.",
    needs: "store",
  },
  "slow-deregistration": {
    id: "K36",
    title: "still sent requests after its removal",
    chargedTo: "router",
    signature: "The leaving copy goes on getting requests after the router was said to have dropped it.",
    why: "The router keeps connections or clients at the old copy for longer than it says.",
    fix: "Measure it, and make the drain delay longer than what was measured.",
    needs: null,
  },
  "black-hole": {
    id: "K37",
    title: "an address that swallows connections",
    chargedTo: "service",
    signature: "The connection times out instead of being refused, at one copy.",
    why: "Packets to the copy's address are dropped: a stale route, a stopped machine, a full listen queue.",
    fix: "Refuse what nobody serves; keep the copy in place until the router has dropped it.",
    needs: null,
  },
  "node-black-hole": {
    id: "K38",
    title: "a node without serving copies",
    chargedTo: "router",
    signature: "Connections of a fixed share of clients time out until the load balancer's check has failed.",
    why: "With `externalTrafficPolicy: Local` a node whose copies are all leaving still gets its share.",
    fix: "Let terminating endpoints serve (KEP-1669), and keep one copy more on each node.",
    needs: "platform",
  },
  "weights-lag": {
    id: "K39",
    title: "weights lag behind",
    chargedTo: "router",
    signature: "503 'no healthy upstream' for seconds at the last step of a canary, or on its abort.",
    why: "The old set of copies was scaled down before the weights had moved.",
    fix: "Delay the scale-down of the old set.",
    needs: "platform",
  },
  "provider-lag": {
    id: "K40",
    title: "the orchestrator's own address lags",
    chargedTo: "router",
    signature: "502, 504 or an empty answer at each stop of a task, behind a virtual address.",
    why: "The virtual address still sends to a task that is stopping.",
    fix: "Keep serving for longer than the lag.",
    needs: "platform",
  },
  affinity: {
    id: "K41",
    title: "one client held at the leaving copy",
    chargedTo: "router",
    signature: "All requests of one client fail in the window, and none of the others.",
    why: "Session affinity pins a client to the copy that leaves.",
    fix: "End the affinity when the copy is no longer ready.",
    needs: "clients",
  },
  timeout: {
    id: "K42",
    title: "no answer in time",
    chargedTo: "service",
    signature:
      "No answer until a timeout of some layer, in any phase; the failures take a round number of seconds.",
    why: "No whole answer came before the timeout of the client or of the router.",
    fix: "Compare the timeouts of all layers with the longest request.",
    needs: null,
  },
  "stream-cut": {
    id: "K43",
    title: "stream cut without notice",
    chargedTo: "service",
    signature: "An event stream or WebSocket ends without its closing words.",
    why: "The copy left and took its long-lived connections with it.",
    fix: "Tell streams to go elsewhere (close code 1012, an end of the event stream) during the drain delay, with jitter.",
    needs: "streams",
  },
  "job-lost": {
    id: "K44",
    title: "job lost or done twice",
    chargedTo: "service",
    signature:
      "A request that was answered with 202 has no execution at the end of the run, or two; HTTP looks well.",
    why: "The job was taken and the process left before it was done, or it was done again by another.",
    fix: "Track the work until it is done, or hand it over durably; acknowledge late and make it idempotent.",
    needs: "store",
  },
};
