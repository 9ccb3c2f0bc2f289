/** `lastcall completion SHELL`: a script for bash, zsh or fish that completes commands, options and their values. */

import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { LabError } from "../errors.ts";
import { EXIT } from "../exit-codes.ts";
import type { Command } from "./command.ts";

const HELP = `Usage: lastcall completion bash|zsh|fish

  bash   source <(lastcall completion bash)
  zsh    source <(lastcall completion zsh)
  fish   lastcall completion fish | source
`;

/** Options with the values they take: a list, `files`, or nothing to complete. */
type Options = Readonly<Record<string, readonly string[] | "files" | "value" | "flag">>;

const SEVERITIES = ["error", "warning", "info"];
const BUDGET: Options = {
  "--drain-delay": "value",
  "--graceful-timeout": "value",
  "--teardown-timeout": "value",
  "--kubernetes": "value",
  "--nginx": "value",
  "--config": "files",
  "--help": "flag",
};

/** The commands whose options are completed; the others complete by name. */
export function completions(
  ruleIds: readonly string[],
  platforms: readonly string[],
  experiments: readonly string[] = [],
): Readonly<Record<string, Options>> {
  return {
    lint: {
      ...BUDGET,
      "--format": ["text", "json", "sarif=", "junit=", "github"],
      "--fail-on": SEVERITIES,
      "--fix": "flag",
      "--fix-dry-run": "flag",
      "--baseline": "files",
      "--write-baseline": "files",
      "--explain": ruleIds,
      "--list-rules": "flag",
    },
    budget: {
      ...BUDGET,
      "--svg": "files",
      "--json": "flag",
      "--emit": platforms,
      "--router-lag": "value",
      "--longest-request": "value",
      "--teardown": "value",
      "--start": "value",
      "--name": "value",
      "--image": "value",
      "--port": "value",
    },
    report: {
      "--html": "files",
      "--json": "flag",
      "--junit": "flag",
      "--markdown": "flag",
      "--compare": "files",
      "--no-color": "flag",
      "--help": "flag",
    },
    lab: {
      ...Object.fromEntries(experiments.map((name) => [name, "flag"] as const)),
      "--keep": "files",
      "--json": "flag",
      "--no-color": "flag",
    },
    completion: { bash: "flag", zsh: "flag", fish: "flag" },
  };
}

/** The same function serves bash and, through bashcompinit, zsh. */
function bash(commands: readonly string[], table: Readonly<Record<string, Options>>): string {
  const values = Object.entries(table).flatMap(([command, options]) =>
    Object.entries(options).flatMap(([option, takes]) =>
      typeof takes === "string" ? [] : [`    "${command} ${option}") words="${takes.join(" ")}" ;;`],
    ),
  );
  const free = [
    ...new Set(
      Object.values(table).flatMap((options) =>
        Object.entries(options).flatMap(([option, takes]) => (takes === "value" ? [option] : [])),
      ),
    ),
  ];
  const options = Object.entries(table).map(
    ([command, list]) => `    ${command}) words="${Object.keys(list).join(" ")}" ;;`,
  );
  return `_lastcall() {
  local current="\${COMP_WORDS[COMP_CWORD]}" before="\${COMP_WORDS[COMP_CWORD-1]}" command="\${COMP_WORDS[1]}" words=""
  COMPREPLY=()
  if [ "$COMP_CWORD" -eq 1 ]; then
    COMPREPLY=($(compgen -W "${commands.join(" ")}" -- "$current"))
    return
  fi
  case "$command $before" in
${values.join("\n")}
  esac
  case "$before" in
    ${free.join("|")}) return ;;
  esac
  if [ -z "$words" ] && [ "$current" = "\${current#-}" ] && [ "$command" != completion ]; then
    COMPREPLY=($(compgen -f -- "$current"))
    return
  fi
  if [ -z "$words" ]; then
    case "$command" in
${options.map((line) => `  ${line}`).join("\n")}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o filenames -F _lastcall lastcall
`;
}

function fish(commands: readonly string[], table: Readonly<Record<string, Options>>): string {
  const lines = [`complete -c lastcall -n __fish_use_subcommand -f -a "${commands.join(" ")}"`];
  for (const [command, options] of Object.entries(table)) {
    const when = `-n "__fish_seen_subcommand_from ${command}"`;
    for (const [option, takes] of Object.entries(options)) {
      if (!option.startsWith("--")) {
        lines.push(`complete -c lastcall ${when} -f -a "${option}"`);
        continue;
      }
      const value =
        takes === "flag"
          ? ""
          : takes === "files"
            ? " -r"
            : takes === "value"
              ? " -x"
              : ` -x -a "${takes.join(" ")}"`;
      lines.push(`complete -c lastcall ${when} -l ${option.slice(2)}${value}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** The commands as `lastcall --help` lists them: that table is the only one. */
function commandNames(): readonly string[] {
  const bin = fileURLToPath(new URL("../../../bin/lastcall.js", import.meta.url));
  const help = spawnSync(process.execPath, [bin, "--help"], { encoding: "utf8", timeout: 30_000 });
  return [...help.stdout.matchAll(/^ {2}([a-z-]+) {2,}/gm)].map((match) => match[1] ?? "");
}

export const completionCommand: Command = {
  summary: "print a completion script for bash, zsh or fish",
  endsAtOnce: true,
  async run([shell], io) {
    if (shell === undefined || shell === "--help" || shell === "-h") {
      io.out(HELP);
      return shell === undefined ? EXIT.usage : EXIT.pass;
    }
    const [{ RULES }, { EMITTERS }, { EXPERIMENTS }] = await Promise.all([
      import("../lint/rules/all.ts"),
      import("../lint/emit/all.ts"),
      import("../experiments/all.ts"),
    ]);
    const table = completions(
      RULES.map(({ id }) => id),
      Object.keys(EMITTERS),
      EXPERIMENTS.map(({ name }) => name),
    );
    const names = commandNames();
    switch (shell) {
      case "bash":
        io.out(bash(names, table));
        return EXIT.pass;
      case "zsh":
        io.out(`autoload -U +X bashcompinit && bashcompinit\n${bash(names, table)}`);
        return EXIT.pass;
      case "fish":
        io.out(fish(names, table));
        return EXIT.pass;
      default:
        throw new LabError("LAB_USAGE", `There is no completion for '${shell}'.`, "Use bash, zsh or fish.");
    }
  },
};
