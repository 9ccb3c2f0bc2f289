/** Reads flags with node:util's parseArgs, and says what is wrong with one in the lab's own words. */

import { parseArgs } from "node:util";
import { LabError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";

/** What each flag takes. */
export type FlagTypes = Readonly<Record<string, "string" | "boolean">>;

export interface Flags {
  readonly values: Readonly<Record<string, string | boolean>>;
  /** What stands after `--`; undefined without one. */
  readonly command: readonly string[] | undefined;
  /** What stands alone, where the command takes such. */
  readonly names: readonly string[];
}

function usage(message: string, next: string): never {
  throw new LabError("LAB_USAGE", message, next);
}

/** `mostNames`: how many arguments that are no flags the command takes. */
export function readFlags(command: string, args: readonly string[], types: FlagTypes, mostNames = 0): Flags {
  const help = `Run \`lastcall ${command} --help\`.`;
  // Not strict: the messages of parseArgs name neither the nearest flag nor the command.
  const { tokens } = parseArgs({
    args: [...args],
    options: Object.fromEntries(Object.entries(types).map(([name, type]) => [name, { type }])),
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  const values: Record<string, string | boolean> = {};
  const names: string[] = [];
  let rest: readonly string[] | undefined;
  for (const token of tokens) {
    if (token.kind === "option-terminator") {
      rest = args.slice(token.index + 1);
      break;
    }
    if (token.kind === "positional" && names.length < mostNames) {
      names.push(token.value);
      continue;
    }
    if (token.kind === "positional") {
      return usage(
        `lastcall ${command} does not know what to do with '${token.value}'.`,
        mostNames > 0 ? help : `A command to run stands after --: lastcall ${command} -- ${token.value}`,
      );
    }
    const type = types[token.name];
    if (type === undefined) {
      return usage(
        `lastcall ${command} has no flag ${token.rawName}.`,
        `${didYouMean(token.name, Object.keys(types), "--")}${help}`,
      );
    }
    if (values[token.name] !== undefined) {
      return usage(`${token.rawName} is given twice.`, "Keep one of them.");
    }
    if (type === "boolean") {
      if (token.value !== undefined) {
        return usage(`${token.rawName} takes no value.`, `Write ${token.rawName} alone.`);
      }
      values[token.name] = true;
    } else if (token.value === undefined || (!token.inlineValue && token.value.startsWith("--"))) {
      return usage(`${token.rawName} needs a value.`, help);
    } else {
      values[token.name] = token.value;
    }
  }
  return { values, command: rest, names };
}

/** What node:util's own strict parsing says of wrong flags, with the nearest right one. */
export function misuse(command: string, error: unknown, known: readonly string[]): LabError {
  const message = error instanceof Error ? error.message : String(error);
  const flag = /^Unknown option '--?([^']+)'/.exec(message)?.[1];
  return flag === undefined
    ? new LabError("LAB_USAGE", message, `Run \`lastcall ${command} --help\`.`, { cause: error })
    : new LabError(
        "LAB_USAGE",
        `lastcall ${command} has no flag --${flag}.`,
        `${didYouMean(flag, known, "--")}Run \`lastcall ${command} --help\`.`,
        { cause: error },
      );
}
