/** What a unit runs, and what its ExecStop lines do. */

import { programOf } from "../model/link.ts";
import { normalSignal } from "../model/images.ts";
import type { Model } from "../model/model.ts";
import { baseName } from "../model/runners.ts";
import { execWords } from "../model/unit-workload.ts";
import { simpleCommands } from "../parse/handover.ts";
import { parseShell } from "../parse/shell.ts";
import type { Setting, Unit } from "../parse/systemd.ts";

/** The program that a unit runs, behind wrappers. */
export function unitProgram(unit: Unit, model: Model): string | undefined {
  const workload = model.workloads.find((one) => one.unit === unit);
  const chain = workload?.members[0]?.program?.chain ?? [];
  return programOf(chain)?.name;
}

/** The commands of an ExecStop line, those in `sh -c` text included, as words. */
export function stopCommands(line: Setting): readonly (readonly string[])[] {
  const words = execWords(line).map((word) => word.text);
  const script =
    /^(ba|da|a)?sh$/.test(baseName(words[0] ?? "")) && /^-\w*c$/.test(words[1] ?? "") ? words[2] : undefined;
  const list = script === undefined ? undefined : parseShell(script);
  return list === undefined
    ? [words]
    : [...simpleCommands(list)].map((command) => command.words.map((word) => word.text));
}

/** The signal that a `kill` sends; undefined: not a kill. */
export function killSignal(words: readonly string[]): string | undefined {
  if (baseName(words[0] ?? "") !== "kill") {
    return undefined;
  }
  const joined = words.slice(1).join(" ");
  const match = /^(?:-s\s*(\w+)|--signal[= ](\w+)|-(\w+))/.exec(joined);
  return normalSignal(match?.[1] ?? match?.[2] ?? match?.[3] ?? "TERM");
}
