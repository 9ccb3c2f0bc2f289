/** One model for every platform: who is stopped, by which timer, what spends from it, and where each number comes from. */

import type { PackageJson } from "../parse/package-json.ts";
import type { AppSource } from "../parse/app-budget.ts";
import type { Argument, DockerCommand, Dockerfile } from "../parse/dockerfile.ts";
import type { Unit } from "../parse/systemd.ts";
import type { Place, Source } from "../source.ts";
import type { Origin, Time } from "../time.ts";
import type { Link } from "./link.ts";
import type { ComposeService } from "./compose.ts";
import type { ImageFacts } from "./image-facts.ts";
import type { Pod, PodContainer } from "./kubernetes.ts";

export type Platform =
  | "kubernetes"
  | "compose"
  | "swarm"
  | "systemd"
  | "ecs"
  | "nomad"
  | "pm2"
  | "supervisor";

/** The time after which the platform kills. */
export interface Timer {
  /** As its platform names it. */
  readonly name: string;
  /** Infinity: never. */
  readonly ms: number;
  readonly origin: Origin;
  /** Where a finding about it is shown: the setting, or the workload where the default holds. */
  readonly at: Place;
  /** What was written, where the platform cuts it to `ms`. */
  readonly writtenMs?: number;
}

/** What the service itself spends after SIGTERM; what is undefined is unknown, not zero. */
export interface Parts {
  readonly drainDelay: Time | undefined;
  readonly graceful: Time | undefined;
  readonly teardown: Time | undefined;
  /** The whole of it, where only that is known (the library derives the parts from it). */
  readonly whole: Time | undefined;
  /** Every number that is known was chosen by somebody, not a server's default. */
  readonly chosen: boolean;
}

/** A command with the processes between the signal and the program. */
export interface Program {
  readonly name: string;
  readonly at: Place;
  readonly chain: readonly Link[];
  readonly facts: ImageFacts;
  /** The Dockerfile that it was found in, or whose image it runs. */
  readonly image: Image | undefined;
  readonly platform: Platform | "image";
  /** Its first process is the container's PID 1. */
  readonly pid1: boolean;
  readonly words: readonly Argument[] | undefined;
}

/** A Dockerfile seen from its last stage. */
export interface Image {
  readonly dockerfile: Dockerfile;
  readonly facts: ImageFacts;
  readonly at: Place;
  readonly entrypoint: DockerCommand | undefined;
  readonly command: DockerCommand | undefined;
  readonly stopSignal: { readonly signal: string; readonly at: Place } | undefined;
  readonly healthcheck: DockerCommand | undefined;
  readonly program: Program | undefined;
  readonly packageJson: PackageJson | undefined;
  readonly sources: readonly AppSource[];
  /** The JavaScript file that Node is started with, where it is at hand. */
  readonly entry: Source | undefined;
  readonly environment: ReadonlyMap<string, EnvValue>;
}

export interface EnvValue {
  readonly value: string;
  readonly at: Place;
}

/** One container, service, unit or task of a workload. */
export interface Member {
  readonly name: string;
  readonly at: Place;
  readonly facts: ImageFacts;
  readonly image: Image | undefined;
  readonly program: Program | undefined;
  readonly environment: ReadonlyMap<string, EnvValue>;
  readonly parts: Parts;
  /** The source files that are known to be its own. */
  readonly sources: readonly AppSource[];
  readonly stopSignal:
    | { readonly signal: string; readonly origin: Origin; readonly at: Place | undefined }
    | undefined;
  readonly container?: PodContainer;
}

export interface Workload {
  readonly platform: Platform;
  /** As the user calls it: `Deployment orders`. */
  readonly name: string;
  readonly at: Place;
  /** Undefined: no timer is known. */
  readonly timer: Timer | undefined;
  readonly members: readonly Member[];
  readonly pod?: Pod;
  readonly service?: ComposeService;
  readonly unit?: Unit;
}
