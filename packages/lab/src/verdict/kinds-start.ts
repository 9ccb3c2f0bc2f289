/** Kinds at the start side: the new copy comes (K24 to K30). */

import type { Kind } from "./kind.ts";

export type StartSlug =
  | "not-ready-yet"
  | "cold-copy"
  | "connect-retry"
  | "too-few-copies"
  | "passive-mark"
  | "stale-address"
  | "version-skew";

export const AT_THE_START: Readonly<Record<StartSlug, Kind>> = {
  "not-ready-yet": {
    id: "K24",
    title: "new copy not ready",
    chargedTo: "service",
    signature:
      "Refused connections or errors of the new copy, in the first moments after it was said to be ready.",
    why: "The new copy got requests before it could serve them.",
    fix: "Let readiness say 200 only when the service listens and its dependencies answer.",
    needs: null,
  },
  "cold-copy": {
    id: "K25",
    title: "cold copy",
    chargedTo: "service",
    signature: "Good answers of the new copy that come late, fewer and fewer of them as it gets older.",
    why: "A new copy answered its first requests slowly.",
    fix: "Warm it up before readiness says 200, or let the router raise its share slowly.",
    needs: null,
  },
  "connect-retry": {
    id: "K26",
    title: "connection made at the second try",
    chargedTo: "service",
    signature:
      "The connection itself took 1 s, 3 s or 7 s: the kernel's own waits before it sends a lost SYN again.",
    why: "The handshake was lost and repeated after a second: a listen queue was full or a listener changed hands.",
    fix: "Raise the backlog, and spread reconnects over the drain delay.",
    needs: null,
  },
  "too-few-copies": {
    id: "K27",
    title: "too few copies left",
    chargedTo: "service",
    signature:
      "Copies that are neither leaving nor new answer 429 or 503, or late, while another is out; before the restart they did not.",
    why: "While one copy was away the others had more than they could do.",
    fix: "Start the new copy before the old one stops (surge), or run one copy more.",
    needs: null,
  },
  "passive-mark": {
    id: "K28",
    title: "a ready copy got no share",
    chargedTo: "router",
    signature: "The new copy is ready and in the router's list, and its first request comes seconds later.",
    why: "The router still held a failure against its address (`fail_timeout`, outlier ejection).",
    fix: "Set `max_fails=0`, or give each copy an address of its own.",
    needs: null,
  },
  "stale-address": {
    id: "K29",
    title: "sent to an address that is gone",
    chargedTo: "router",
    signature:
      "Refused connections to a copy long after it was taken out, and they do not end by themselves.",
    why: "The router or the client had resolved the name once and never asked again.",
    fix: "Let the router ask again (`resolver` and a variable in nginx), and respect the time to live.",
    needs: null,
  },
  "version-skew": {
    id: "K30",
    title: "old and new do not agree",
    chargedTo: "service",
    signature: "4xx from healthy copies while both generations serve; in the baseline there was none.",
    why: "What one generation hands out the other does not know.",
    fix: "Keep the previous assets and routes for one release; change the schema in steps that both understand.",
    needs: null,
  },
};
