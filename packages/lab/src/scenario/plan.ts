/** A rolling restart as data: what is run, against what, under which load, and what it must show. */

import type { RouterBehaviour, RouterName } from "../router/options.ts";
import type { LoadShape } from "./load-options.ts";
import type { Platform } from "./platforms.ts";
import type { Build, Expectation, ScenarioName } from "./scenarios.ts";

export type Service =
  | { readonly kind: "orders"; readonly build: Build }
  | { readonly kind: "command"; readonly command: readonly string[] }
  | {
      readonly kind: "compose";
      readonly file: string;
      /** Null: the only one of the file. */
      readonly name: string | null;
      /** Null: the only one that it publishes. */
      readonly containerPort: number | null;
    }
  | {
      readonly kind: "swarm";
      readonly name: string;
      /** The router in front of it. */
      readonly url: URL;
      readonly drainNode: string | null;
      readonly engines: readonly string[];
    };

export interface Routes {
  /** Readiness: 200 when the copy may be sent work. */
  readonly ready: string;
  /** Liveness: 200 until the exit; null: nobody asks. */
  readonly live: string | null;
  /** Templates with `{id}`; null: no such requests. */
  readonly get: string | null;
  readonly post: string | null;
  readonly postBody: string | null;
}

export interface RolloutPlan {
  readonly scenario: ScenarioName;
  readonly title: string;
  readonly mustShow: string;
  /** What a built-in row must show; null: judged strictly, any loss is a finding. */
  readonly expectation: Expectation | null;
  readonly service: Service;
  readonly routes: Routes;
  readonly signal: "SIGTERM" | "SIGKILL";
  /** Handed to the service; null: it has its own and is not told another. */
  readonly drainDelayMs: number | null;
  readonly gracePeriodMs: number;
  readonly readyTimeoutMs: number;
  readonly router: RouterBehaviour & {
    /** `auto`: nginx where it is found and can do what is asked for, else another that can, else embedded. */
    readonly name: "auto" | RouterName;
  };
  /** The router's lag; where it removes by readiness, what its checks make of it at the least. */
  readonly propagationMs: number;
  /** How long a copy that is ready waits before the router lists it. */
  readonly warmUpMs: number;
  readonly order: "parallel" | "remove-first";
  readonly ratePerSecond: number;
  readonly load: LoadShape;
  readonly copies: number;
  /** Restarts of each copy. */
  readonly repeat: number;
  readonly seed: number;
  /** A file to which the service appends each id that it has executed; null: nobody can tell, or the orders service's own. */
  readonly executedFile: string | null;
  /** Who sees what comes to each copy: code of the lab inside it, a shim in front of it, or nobody. */
  readonly witness: "none" | "import" | "shim";
  readonly timing: Timing;
  /** After a failed run: again with one factor changed at a time. */
  readonly explain: boolean;
  /** After the run: again in ways that must show losses. */
  readonly controls: boolean;
  /** In whose words the advice is given; null: in ours. */
  readonly platform: Platform | null;
  /** How often the row is run at most, should the machine be too busy for a valid run. */
  readonly attempts: number;
}

export interface Timing {
  /** From the start of the load to the first stop: the baseline. */
  readonly headMs: number;
  /** From one stop to the next, at least; never before the replacement is in rotation. */
  readonly gapMs: number;
  /** From the last replacement in rotation to the end of the load. */
  readonly tailMs: number;
}
