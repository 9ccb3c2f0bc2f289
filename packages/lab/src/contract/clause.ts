/** What a clause of the shutdown contract is, and what a judge can say about a service. Data only. */

import type { Subject } from "./subject.ts";
import type { TraceEntry } from "./wire.ts";

export type ClauseId =
  | `A${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`
  | `B${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9 | 10 | 11}`
  | `C${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8}`
  | `D${1 | 2 | 3 | 4 | 5}`
  | `E${1 | 2 | 3 | 4 | 5 | 6}`
  | `F${1 | 2 | 3 | 4 | 5 | 6}`
  | `G${1 | 2 | 3 | 4 | 5 | 6 | 7 | 8 | 9}`;

/** `core`: every HTTP service; `protocol`: who speaks it; `process`: the process and its supervisor; `honest`: what is said. */
export type Level = "core" | "protocol" | "process" | "honest";

/** Figures that were seen, by name: `exitAfterLastAnswerMs`. */
export type Measured = Readonly<Record<string, number | string>>;

export type Judgement =
  | { readonly kind: "kept"; readonly measured: Measured }
  | {
      readonly kind: "broken";
      /** What was seen, and what the clause says instead. */
      readonly reason: string;
      readonly measured: Measured;
      /** The one connection that shows it; times in milliseconds since the stop signal. Empty where no connection is the point. */
      readonly trace: readonly TraceEntry[];
      /** What to do about it, one sentence. */
      readonly todo: string;
    }
  | { readonly kind: "not judged"; readonly why: string };

export interface Clause {
  readonly id: ClauseId;
  readonly level: Level;
  /** The clause in one sentence. */
  readonly title: string;
  /** What the description of the service must name, in the words of `Subject`: `settings.drainDelay`, `routes.slow`. */
  readonly needs: readonly Need[];
  judge(subject: Subject): Promise<Judgement>;
}

/** A field of the subject that a judge cannot do without; `longRequest` is any way to keep a request in flight. */
export type Need =
  | `settings.${keyof Subject["settings"]}`
  | `routes.${keyof Subject["routes"]}`
  | `says.${keyof Subject["says"]}`
  | `modes.${keyof Subject["modes"]}`
  | "longRequest"
  | "record"
  | "adminPort"
  | "unixSocket"
  | "handoffStore";
