/** The answers to liveness, readiness and state probes. Pure; `servers/probe-handler.ts` writes them. */

import type { ProbePaths } from "./options.ts";

export interface ProbeAnswer {
  readonly status: 200 | 503;
  readonly body: unknown;
}

/** What the probes look at. */
export interface ProbeView {
  isReady(): boolean;
  /** Everything that `/statez` shows. */
  describe(): unknown;
}

export type Probe = "live" | "ready" | "state";

const DEFAULT_PATHS: Readonly<Required<ProbePaths>> = { live: "/livez", ready: "/readyz", state: "/statez" };

/** Which probe a request line asks for, the query aside; null when it is ordinary work. */
export function probeAt(url: string, paths: ProbePaths): Probe | null {
  const query = url.indexOf("?");
  const path = query === -1 ? url : url.slice(0, query);
  const all = { ...DEFAULT_PATHS, ...paths };
  return (["ready", "live", "state"] as const).find((probe) => all[probe] === path) ?? null;
}

/** A draining service is alive and not ready. */
export function answerProbe(probe: Probe, view: ProbeView): ProbeAnswer {
  switch (probe) {
    case "live":
      return { status: 200, body: { ok: true } };
    case "ready":
      return view.isReady()
        ? { status: 200, body: { ready: true } }
        : { status: 503, body: { ready: false } };
    case "state":
      return { status: 200, body: view.describe() };
  }
}
