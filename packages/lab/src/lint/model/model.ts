/** All that the rules see. */

import type { HaproxyFile } from "../parse/haproxy.ts";
import type { NginxFile } from "../parse/nginx.ts";
import type { PackageJson } from "../parse/package-json.ts";
import type { Unit } from "../parse/systemd.ts";
import type { Place } from "../source.ts";
import type { ComposeService } from "./compose.ts";
import type { K8sObject, Pod } from "./kubernetes.ts";
import type { Settings } from "./settings.ts";
import type { Image, Program, Workload } from "./workload.ts";

export interface Router {
  /** A configuration file and the workloads that are known to stand behind it. */
  readonly path: string;
  readonly workloads: readonly Workload[];
}

/** A file that could not be read as what it is. */
export interface FileProblem {
  readonly rule:
    | "file/broken"
    | "file/unreadable"
    | "file/too-large"
    | "file/template"
    | "file/not-recognised";
  readonly message: string;
  readonly at: Place;
}

export interface Model {
  readonly workloads: readonly Workload[];
  /** Every command once, where it is written. */
  readonly programs: readonly Program[];
  readonly images: readonly Image[];
  readonly objects: readonly K8sObject[];
  readonly pods: readonly Pod[];
  readonly services: readonly ComposeService[];
  readonly units: readonly Unit[];
  readonly nginx: readonly NginxFile[];
  readonly haproxy: readonly HaproxyFile[];
  readonly packages: readonly PackageJson[];
  readonly routers: readonly Router[];
  readonly settings: Settings;
  readonly problems: readonly FileProblem[];
}
