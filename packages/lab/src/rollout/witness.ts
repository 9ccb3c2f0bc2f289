/** Who bears witness to what came to the copies: code of the lab in each, a shim in front of each, or nobody. */

import { readFile } from "node:fs/promises";
import path from "node:path";
import { LabError } from "../errors.ts";
import type { RunClock } from "../ledger/clock.ts";
import type { WitnessRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import type { Copy } from "../target/copy.ts";
import { isWatched, readWitness } from "../witness/lines.ts";
import { startShims } from "../witness/shims.ts";
import { FILES } from "./service.ts";

export interface Witness {
  /** What a copy finds in its environment, beside what it would find without a witness. */
  env(copy: string, env: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>>;
  /** The copy as the router is to see it. Call it when the copy is ready. */
  inFront(copy: Copy): Promise<Copy>;
  /** Null: there was none. */
  records(copies: readonly string[]): Promise<readonly WitnessRecord[] | null>;
  stop(): Promise<void>;
}

const IMPORT: string = new URL("../witness/witness.js", import.meta.url).href;

const NOBODY: Witness = {
  env: () => ({}),
  inFront: (copy) => Promise.resolve(copy),
  records: () => Promise.resolve(null),
  stop: () => Promise.resolve(),
};

function importing(folder: string, clock: RunClock): Witness {
  const fileOf = (copy: string): string => path.join(folder, FILES.witness(copy));
  const textOf = (copy: string): Promise<string> => readFile(fileOf(copy), "utf8").catch(() => "");
  return {
    env: (copy, env) => ({
      LASTCALL_WITNESS: fileOf(copy),
      NODE_OPTIONS: `${env["NODE_OPTIONS"] ?? ""} --import=${IMPORT}`.trimStart(),
    }),
    inFront: async (copy) => {
      if (!isWatched(await textOf(copy.name))) {
        throw new LabError(
          "LAB_WITNESS",
          `Copy ${copy.name} is ready and has not loaded the witness: it is no Node program (20.19 or later), or NODE_OPTIONS does not reach it.`,
          "Use --witness shim, or start it with `node --import @lastcall/lab/witness`.",
        );
      }
      return copy;
    },
    records: async (copies) => {
      let all: readonly WitnessRecord[] = [];
      for (const copy of copies) {
        // Some megabytes each at the most.
        all = [...all, ...readWitness(await textOf(copy), copy, clock.baseMs)];
      }
      return all.toSorted((a, b) => a.arrivedMs - b.arrivedMs);
    },
    stop: () => Promise.resolve(),
  };
}

function shimming(clock: RunClock, findPort: () => Promise<number>): Witness {
  const shims = startShims(clock);
  return {
    env: () => ({}),
    inFront: async (copy) => {
      const port = await findPort();
      await shims.start(copy.name, port, copy.port);
      return {
        ...copy,
        port,
        stop: async (signal, gracePeriodMs) => {
          shims.leaving(copy.name);
          return copy.stop(signal, gracePeriodMs);
        },
      };
    },
    records: async (copies) => {
      // What is still open when the run is over has been cut by its end; the order of messages brings all that was seen.
      await Promise.all(copies.map((copy) => shims.end(copy)));
      return shims.records().toSorted((a, b) => a.arrivedMs - b.arrivedMs);
    },
    stop: () => shims.stop(),
  };
}

export function startWitness(
  { witness }: Pick<RolloutPlan, "witness">,
  folder: string,
  clock: RunClock,
  findPort: () => Promise<number>,
): Witness {
  switch (witness) {
    case "none":
      return NOBODY;
    case "import":
      return importing(folder, clock);
    case "shim":
      return shimming(clock, findPort);
  }
}
