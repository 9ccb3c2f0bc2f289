/** What is said of every kind, and what a run must have for it to be seen. */

import type { ChargedTo } from "./verdict.ts";

/** What a run must have for a kind to be seen in it. Without it the kind is never guessed: the verdict names it as not looked for. */
export type Need =
  /** `--executed`, or the orders service's own store. */
  | "store"
  /** `--live`. */
  | "liveness"
  /** A router whose set of copies is changed by a reload. */
  | "reload"
  /** The router's retries. */
  | "retries"
  /** More than one process in a copy, each naming itself. */
  | "workers"
  /** Event streams or WebSockets in the load. */
  | "streams"
  /** WebSockets in the load. */
  | "webSockets"
  /** HTTP/2 in the load. */
  | "http2"
  /** The platform's own events: hooks, endpoints, weights. No run of the lab has them yet. */
  | "platform"
  /** Clients that can be told apart by address or cookie. No run of the lab has them yet. */
  | "clients";

export interface Kind {
  /** Stable: the name of its page in docs/kinds is `ID-SLUG.md`. */
  readonly id: string;
  readonly title: string;
  readonly chargedTo: ChargedTo;
  /** What the client, the router's log and the timeline show, one or two sentences. */
  readonly signature: string;
  /** What happens, one sentence. */
  readonly why: string;
  /** What to change, one or two sentences. */
  readonly fix: string;
  readonly needs: Need | null;
}

/** What each need is in words: why the kind was not looked for, and what would make it visible. */
export const NEEDS: Readonly<Record<Need, string>> = {
  store: "what the service has executed: --executed FILE",
  liveness: "the liveness path: --live PATH",
  reload: "a router that is reloaded for each change",
  retries: "the router's retries: --retries",
  workers: "answers that name the worker process that made them",
  streams: "streams in the load",
  webSockets: "WebSockets in the load",
  http2: "HTTP/2 in the load",
  platform: "the events of a platform, which the lab does not collect yet",
  clients: "clients that can be told apart, which the lab does not have yet",
};
