/** What may stand between the stop signal and the program: one link of a chain of processes, the first nearest to the signal. */

import type { Argument } from "../parse/dockerfile.ts";
import type { Handover, ShellName } from "../parse/handover.ts";
import type { Place } from "../source.ts";

export type PackageManager = "npm" | "yarn" | "pnpm" | "npx" | "bun";

export type Link =
  | {
      readonly kind: "init";
      readonly name: string;
      /** Signals the whole process group rather than its child alone. */
      readonly group: boolean;
      readonly at: Place;
    }
  | {
      readonly kind: "shell";
      /** `text`: a Dockerfile's text form. `wrapper`: `sh -c`. `script`: a file. `package`: a script of package.json. */
      readonly role: "text" | "wrapper" | "script" | "package";
      readonly shell: ShellName;
      readonly verdict: Handover["verdict"];
      /** A program was found in the text; without one, an unknown verdict says nothing. */
      readonly plain: boolean;
      /** The program that the shell starts, or the whole command. */
      readonly at: Place;
      /** Where `exec ` can be written with certainty. */
      readonly execAt?: Place;
      readonly text: string;
    }
  | {
      readonly kind: "package-manager";
      readonly name: PackageManager;
      /** From `packageManager` in package.json; undefined: not said. */
      readonly major: number | undefined;
      readonly script: string | undefined;
      readonly known: boolean;
      readonly at: Place;
    }
  | {
      readonly kind: "runner";
      readonly name: string;
      readonly role: "dev" | "multi" | "pm2" | "supervisor";
      readonly at: Place;
    }
  | {
      readonly kind: "program";
      readonly name: string;
      readonly words: readonly Argument[];
      readonly at: Place;
    };

/** The links that a stop signal reaches: up to and with the first that keeps it. */
export function reached(chain: readonly Link[]): readonly Link[] {
  const stop = chain.findIndex((link) => link.kind === "shell" && link.verdict === "stays");
  return stop === -1 ? chain : chain.slice(0, stop + 1);
}

export function programOf(chain: readonly Link[]): (Link & { kind: "program" }) | undefined {
  const last = chain.at(-1);
  return last?.kind === "program" ? last : undefined;
}
