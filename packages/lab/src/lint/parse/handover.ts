/**
 * Does a shell make way for the program that it runs? Only then does a signal sent to the shell's process reach the program.
 * The table is measured (dash 0.5.12, bash 5.2, busybox 1.35); docs/rules/docker/shell-form.md prints it.
 */

import type { ShellCommand, ShellItem, ShellList } from "./shell.ts";
import type { Word } from "./shell-words.ts";

export type ShellName = "dash" | "bash" | "ash" | "none" | "unknown";

export interface Handover {
  /**
   * `exec`: written out. `replaced`: this shell does it by itself. `stays`: the shell remains the parent.
   * `unknown`: the text or the shell does not tell.
   */
  readonly verdict: "exec" | "replaced" | "stays" | "unknown";
  /** The program's own words, where one could be found. */
  readonly words: readonly Word[];
  /** Offsets of the program's command in the shell text. */
  readonly start: number;
  readonly end: number;
  /** Written before it, `exec ` would certainly do: a plain last command. */
  readonly fixable: boolean;
}

/** Commands that end by themselves, so that they are not the service. */
const BRIEF = new Set(
  (
    "echo printf exit return true false : cd set unset export local readonly shift mkdir cp mv rm ln chmod chown touch cat " +
    "sed awk grep envsubst test [ [[ sleep date umask ulimit eval-env pwd whoami id hostname ls tee sync mktemp which type command " +
    "read declare alias break continue printenv ps df wc sort tr cut find tar curl wget openssl apk apt-get"
  ).split(" "),
);

function isBrief(name: string): boolean {
  return BRIEF.has(name.slice(name.lastIndexOf("/") + 1));
}

const UNKNOWN: Handover = { verdict: "unknown", words: [], start: 0, end: 0, fixable: false };

interface Setting {
  readonly shell: ShellName;
  /** The text of a script file: no shell hands over by itself. */
  readonly file: boolean;
  readonly endsWithNewline: boolean;
  readonly functions: ReadonlyMap<string, ShellCommand>;
  readonly depth: number;
}

export function handover(list: ShellList, shell: ShellName, text: string, file = false): Handover {
  if (trapsSignals(list)) {
    return UNKNOWN;
  }
  const functions = new Map<string, ShellCommand>();
  for (const command of everyCommand(list)) {
    if (command.kind === "function") {
      functions.set(command.name, command.body);
    }
  }
  return ofList(list, { shell, file, endsWithNewline: text.endsWith("\n"), functions, depth: 0 });
}

function* everyCommand(list: ShellList): Iterable<ShellCommand> {
  for (const item of list) {
    for (const { pipeline } of item.chain) {
      for (const command of pipeline) {
        yield command;
        if (command.kind === "group" || command.kind === "subshell") {
          yield* everyCommand(command.body);
        } else if (command.kind === "branch" || command.kind === "loop") {
          for (const body of command.bodies) {
            yield* everyCommand(body);
          }
        } else if (command.kind === "function") {
          yield* everyCommand([{ chain: [{ op: "", pipeline: [command.body] }], background: false }]);
        }
      }
    }
  }
}

/** Every simple command in the text, wherever it stands. */
export function* simpleCommands(list: ShellList): Iterable<ShellCommand & { kind: "simple" }> {
  for (const command of everyCommand(list)) {
    if (command.kind === "simple") {
      yield command;
    }
  }
}

/** A script that traps the stop signal may forward it: only running it could tell. */
function trapsSignals(list: ShellList): boolean {
  for (const command of simpleCommands(list)) {
    if (
      command.words[0]?.text === "trap" &&
      command.words.slice(2).some(({ text }) => /^(SIG)?(TERM|INT|QUIT|HUP)$|^15$/i.test(text))
    ) {
      return true;
    }
  }
  return false;
}

function ofList(list: ShellList, setting: Setting): Handover {
  if (setting.depth > 20) {
    return UNKNOWN;
  }
  let stays = false;
  for (let at = list.length - 1; at >= 0; at -= 1) {
    const item = list[at];
    if (item === undefined || isWait(item)) {
      stays = true;
      continue;
    }
    if (item.background && !stays) {
      return UNKNOWN;
    }
    const found = ofItem(item, setting);
    if (found === "brief") {
      stays = true;
      continue;
    }
    return stays && found.verdict !== "unknown" && found.verdict !== "exec"
      ? { ...found, verdict: "stays", fixable: false }
      : found;
  }
  return UNKNOWN;
}

function isWait(item: ShellItem): boolean {
  const only = item.chain.at(-1)?.pipeline.at(-1);
  return only?.kind === "simple" && only.words[0]?.text === "wait";
}

function ofItem(item: ShellItem, setting: Setting): Handover | "brief" {
  for (let at = item.chain.length - 1; at >= 0; at -= 1) {
    const pipeline = item.chain[at]?.pipeline ?? [];
    const last = at === item.chain.length - 1;
    if (pipeline.length > 1) {
      // Every shell runs the parts of a pipe in children, `exec` or not.
      const program = pipeline
        .map((command) => ofCommand(command, setting))
        .find((found) => found !== "brief");
      if (program !== undefined) {
        return program.verdict === "unknown" ? program : { ...program, verdict: "stays", fixable: false };
      }
      continue;
    }
    const command = pipeline[0];
    const found = command === undefined ? "brief" : ofCommand(command, setting);
    if (found !== "brief") {
      const kept = last && !item.background;
      return kept || found.verdict === "unknown" || found.verdict === "exec"
        ? found
        : { ...found, verdict: "stays", fixable: false };
    }
  }
  return "brief";
}

function ofCommand(command: ShellCommand, setting: Setting): Handover | "brief" {
  switch (command.kind) {
    case "simple":
      return ofSimple(command, setting);
    case "group":
    case "subshell": {
      const inner = ofList(command.body, { ...setting, depth: setting.depth + 1 });
      if (inner.words.length === 0) {
        return allBrief(command.body) ? "brief" : inner;
      }
      if (command.kind === "group" && inner.verdict === "exec") {
        return inner;
      }
      const ash = setting.shell === "ash" && !setting.file;
      return inner.verdict === "unknown" || ash ? inner : { ...inner, verdict: "stays", fixable: false };
    }
    case "branch": {
      const found = command.bodies.map((body) => ofList(body, { ...setting, depth: setting.depth + 1 }));
      const program = found.find((one) => one.words.length > 0);
      if (program === undefined) {
        return command.bodies.every(allBrief) ? "brief" : UNKNOWN;
      }
      if (!found.every((one) => one.verdict === program.verdict)) {
        return UNKNOWN;
      }
      // Only ash makes way inside a compound command.
      const makesWay = program.verdict !== "replaced" || (setting.shell === "ash" && !setting.file);
      return { ...program, verdict: makesWay ? program.verdict : "stays", fixable: false };
    }
    case "loop":
      return UNKNOWN;
    case "function":
      return "brief";
  }
}

function allBrief(list: ShellList): boolean {
  for (const command of simpleCommands(list)) {
    const name = command.words[0]?.text;
    if (name !== undefined && !isBrief(name)) {
      return false;
    }
  }
  return true;
}

function ofSimple(command: ShellCommand & { kind: "simple" }, setting: Setting): Handover | "brief" {
  const [first] = command.words;
  const { start, end } = command;
  if (first === undefined || isBrief(first.text)) {
    return "brief";
  }
  if (first.text === "exec") {
    const words = skipExecOptions(command.words.slice(1));
    return words.length === 0 ? "brief" : { verdict: "exec", words, start, end, fixable: false };
  }
  if (first.text === "." || first.text === "source" || first.text === "eval") {
    return setting.file ? "brief" : UNKNOWN;
  }
  const body = setting.functions.get(first.text);
  if (body !== undefined) {
    const inner = ofCommand(body, { ...setting, file: true, depth: setting.depth + 1 });
    return inner === "brief" ? inner : { ...inner, fixable: false };
  }
  const found: Handover = { verdict: "stays", words: command.words, start, end, fixable: true };
  if (setting.file || setting.shell === "dash") {
    return found;
  }
  if (setting.shell === "bash") {
    return command.redirects > 0 ? found : { ...found, verdict: "replaced" };
  }
  if (setting.shell === "ash") {
    return setting.endsWithNewline ? found : { ...found, verdict: "replaced" };
  }
  return { ...found, verdict: "unknown" };
}

function skipExecOptions(words: readonly Word[]): readonly Word[] {
  let at = 0;
  while (/^-[cl]+$/.test(words[at]?.text ?? "") || words[at]?.text === "-a") {
    at += words[at]?.text === "-a" ? 2 : 1;
  }
  return words.slice(words[at]?.text === "--" ? at + 1 : at);
}
