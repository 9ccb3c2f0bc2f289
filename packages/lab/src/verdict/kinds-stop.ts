/** Kinds at the stop side: the old copy goes away (K01 to K23). */

import type { Kind } from "./kind.ts";

export type StopSlug =
  | "closed-door"
  | "in-flight-cut"
  | "keep-alive-race"
  | "idle-timeout"
  | "idle-burst"
  | "never-ends"
  | "truncated"
  | "unread-body"
  | "ignored-signal"
  | "wrapper"
  | "prestop-eats-grace"
  | "killed"
  | "prestop-failed"
  | "liveness-fails"
  | "readiness-constant"
  | "refused-by-gate"
  | "wrong-order"
  | "accept-queue"
  | "outage"
  | "worker-recycling"
  | "goaway-race"
  | "sidecar-first"
  | "blocked-loop";

export const AT_THE_STOP: Readonly<Record<StopSlug, Kind>> = {
  "closed-door": {
    id: "K01",
    title: "closed door",
    chargedTo: "service",
    signature:
      "New connections to the leaving copy are refused from its signal on, for as long as the router's lag lasts; then it ends by itself.",
    why: "The copy closed its listener while the router still sent it new requests.",
    fix: "Keep serving for longer than the router's lag: set a drain delay.",
    needs: null,
  },
  "in-flight-cut": {
    id: "K02",
    title: "in-flight cut",
    chargedTo: "service",
    signature:
      "Requests that had been at the copy for a while end without an answer, all at one instant: that of its exit.",
    why: "The copy exited while it worked on the request.",
    fix: "On the stop signal, finish what is in flight before the exit.",
    needs: null,
  },
  "keep-alive-race": {
    id: "K03",
    title: "keep-alive race",
    chargedTo: "service",
    signature:
      "A request on a pooled connection ends within milliseconds and without a byte; no handler ran. Rare, and mostly a POST, because GETs are sent again.",
    why: "An idle pooled connection was closed at the moment when the next request was sent on it.",
    fix: "Answer with `Connection: close` first and let the other side close; keep idle connections longer than the router does.",
    needs: null,
  },
  "idle-timeout": {
    id: "K04",
    title: "idle timeout too short",
    chargedTo: "service",
    signature: "The keep-alive race while no copy is leaving: steady, in every phase of the run.",
    why: "The service closes idle connections sooner than the side that keeps them in its pool.",
    fix: "Make the service's keep-alive timeout longer than the router's (Node: `server.keepAliveTimeout`).",
    needs: null,
  },
  "idle-burst": {
    id: "K05",
    title: "idle connections closed at once",
    chargedTo: "service",
    signature:
      "Several keep-alive races at one copy within milliseconds of each other, while the copy lives on.",
    why: "The copy closed all its idle connections at one instant (`server.close()` since Node 19, `closeIdleConnections()`), and requests were on their way on some of them.",
    fix: "Answer with `Connection: close` for longer than the router's lag first, and close idle connections after it.",
    needs: null,
  },
  "never-ends": {
    id: "K06",
    title: "the drain never ends",
    chargedTo: "service",
    signature:
      "The listener is closed or readiness says no, nothing more is to be done, and the process is still there when the grace period is over: SIGKILL.",
    why: "Something keeps the process: pooled connections that always get their next request, a timer, a pool that nobody closed.",
    fix: "Answer with `Connection: close` while draining, close what was opened, and exit at a deadline inside the grace period.",
    needs: null,
  },
  truncated: {
    id: "K07",
    title: "truncated answer",
    chargedTo: "service",
    signature:
      "Status 200, and a body that is shorter than its Content-Length or has no last chunk. The access log says 200.",
    why: "The answer began, and its body ended before its promised length or its last chunk.",
    fix: "Let answers that have begun end before the exit; give them a longer graceful timeout.",
    needs: null,
  },
  "unread-body": {
    id: "K08",
    title: "answer lost to an unread body",
    chargedTo: "service",
    signature:
      "Only requests with a large body: the connection is reset while the body is being sent, though the copy lives on.",
    why: "The copy answered and closed before it had read the body; the reset destroyed the answer.",
    fix: "Read or discard the rest of the body before the connection is closed, or close it in two steps (half-close, drain, close).",
    needs: null,
  },
  "ignored-signal": {
    id: "K09",
    title: "the stop signal had no effect",
    chargedTo: "service",
    signature:
      "Nothing changes at the signal: the copy goes on serving and stays ready until SIGKILL at the end of the grace period.",
    why: "The process has no handler for the stop signal, or one that does nothing; as PID 1 the system's default does not apply either.",
    fix: "Handle SIGTERM; in a container run the process under an init (`--init`, tini) or with a handler of its own.",
    needs: null,
  },
  wrapper: {
    id: "K10",
    title: "a wrapper stands between",
    chargedTo: "service",
    signature:
      "The process that gets the signal is a shell or a package manager. It dies at once and its child with it, or it swallows the signal until SIGKILL.",
    why: "The stop signal reached the wrapper and not the service behind it.",
    fix: "Start the service itself (`exec node app.js`, the exec form of CMD), not through a shell or `npm start`.",
    needs: null,
  },
  "prestop-eats-grace": {
    id: "K11",
    title: "the hook eats the grace period",
    chargedTo: "service",
    signature:
      "SIGTERM comes late and SIGKILL soon after: the time between is the grace period less the hook.",
    why: "The countdown begins before the preStop hook, so that the hook's time is missing at the end.",
    fix: "Make the grace period longer than the hook, the longest request and a margin together.",
    needs: "platform",
  },
  killed: {
    id: "K12",
    title: "killed at the end of the grace period",
    chargedTo: "service",
    signature:
      "Requests that had been at the copy for long end without an answer at one instant: when SIGKILL came, a grace period after the signal.",
    why: "The copy had not exited when its grace period was over, and SIGKILL cut what it worked on.",
    fix: "Give the drain a deadline inside the grace period, or raise the grace period.",
    needs: null,
  },
  "prestop-failed": {
    id: "K13",
    title: "the preStop hook failed",
    chargedTo: "service",
    signature: "The manifest says that the hook sleeps, and SIGTERM comes at once.",
    why: "The hook's command is not in the image (`sleep`, `sh`), and its failure is only an event.",
    fix: "Use the platform's own sleep (`preStop.sleep.seconds`).",
    needs: "platform",
  },
  "liveness-fails": {
    id: "K14",
    title: "liveness fails while draining",
    chargedTo: "service",
    signature: "The liveness path answers with an error while the copy drains.",
    why: "A draining copy is not ready, but it is alive: a liveness probe that fails ends the drain with a restart.",
    fix: "Let liveness say 200 until the exit; only readiness turns.",
    needs: "liveness",
  },
  "readiness-constant": {
    id: "K15",
    title: "readiness never turns",
    chargedTo: "service",
    signature: "The copy serves on after its signal, and its readiness says 200 until it is gone.",
    why: "Routers that ask for readiness keep sending requests to a copy that is leaving.",
    fix: "Turn readiness to 503 at the stop signal, before anything else.",
    needs: null,
  },
  "refused-by-gate": {
    id: "K16",
    title: "refused while draining",
    chargedTo: "service",
    signature: "503 made by the copy itself, after its stop signal, for as long as the router's lag lasts.",
    why: "The copy answered 503 while the router still sent it requests.",
    fix: "Keep serving through the drain delay and only turn readiness; make the delay longer than the router's lag.",
    needs: null,
  },
  "wrong-order": {
    id: "K17",
    title: "error while draining",
    chargedTo: "service",
    signature: "5xx made by the copy itself, quickly, between its stop signal and its exit.",
    why: "The copy answered with an error between its stop signal and its exit: something that the request needed was closed first.",
    fix: "Close in this order: listener, requests, then pools and files.",
    needs: null,
  },
  "accept-queue": {
    id: "K18",
    title: "lost in the accept queue",
    chargedTo: "service",
    signature:
      "A new connection is made and reset within milliseconds, without a byte, while the copy lives.",
    why: "A new connection was made and reset before anybody read from it: its listener closed with it in the queue.",
    fix: "Empty the accept queue before the listener closes, and close it after the router has moved on.",
    needs: null,
  },
  outage: {
    id: "K19",
    title: "no copy to take it",
    chargedTo: "service",
    signature: "Every request fails for a while, whichever copy it is for: the time between stop and start.",
    why: "At that moment no copy was in the router's rotation and serving.",
    fix: "Start the new copy and wait for its readiness before the last old one stops.",
    needs: null,
  },
  "worker-recycling": {
    id: "K20",
    title: "lost when a worker was replaced",
    chargedTo: "service",
    signature:
      "Requests end without an answer at a copy that nobody stopped, when one of its workers falls silent and another begins to answer.",
    why: "A worker process of the copy was recycled and took what it had accepted with it.",
    fix: "Let a worker finish what it has accepted before it exits, or switch recycling off (`max_requests`).",
    needs: "workers",
  },
  "goaway-race": {
    id: "K21",
    title: "GOAWAY race",
    chargedTo: "service",
    signature: "Several streams of one HTTP/2 connection fail at once, at its end.",
    why: "The connection was ended with a last stream id below streams that were in flight.",
    fix: "Say GOAWAY twice: first with the highest id, then, a round trip later, with the real one.",
    needs: "http2",
  },
  "sidecar-first": {
    id: "K22",
    title: "the sidecar left first",
    chargedTo: "service",
    signature:
      "The copy's own port answers while the path through its sidecar does not, and its outgoing calls fail.",
    why: "The proxy beside the service got the signal at the same time and was faster.",
    fix: "Use a native sidecar, or let the proxy wait until no connection is active.",
    needs: "platform",
  },
  "blocked-loop": {
    id: "K23",
    title: "blocked while leaving",
    chargedTo: "service",
    signature:
      "A leaving copy accepts and does not answer: timeouts, or good answers that all come late together.",
    why: "A copy that was leaving took the request and did not answer in time.",
    fix: "Do no synchronous work on the stop signal; cancel what takes long.",
    needs: null,
  },
};
