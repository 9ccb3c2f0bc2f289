/** `lastcall lab NAME`: one of the classic experiments, played, told and judged. Alone it lists them. */

import path from "node:path";
import { isatty } from "node:tty";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { EXPERIMENTS } from "../experiments/all.ts";
import type { Experiment } from "../experiments/experiment.ts";
import type { Judgement } from "../experiments/judgement.ts";
import { openStage } from "../experiments/stage.ts";
import { startTale } from "../experiments/tale.ts";
import { didYouMean } from "../nearest.ts";
import { Interrupted } from "../rollout/scope.ts";
import { styleFor } from "../render/style.ts";
import type { Command, Io } from "./command.ts";
import { readFlags } from "./flags.ts";

const FLAGS = { keep: "string", json: "boolean", "no-color": "boolean", help: "boolean" } as const;

function list(): string {
  const width = Math.max(...EXPERIMENTS.map(({ name }) => name.length));
  return EXPERIMENTS.map(
    ({ name, summary, lastsS }) => `  ${name.padEnd(width)}  ${`${lastsS} s`.padStart(4)}  ${summary}\n`,
  ).join("");
}

function help(): string {
  return `Usage: lastcall lab NAME [options]

The experiments that tutorials on graceful shutdown do by hand, on the orders service: each plays
on 127.0.0.1, tells what happens, and says in its last line whether the run shows what it must.

${list()}
Options
  --keep FOLDER  keeps what the services and the router have written
  --json         facts and judgement on standard output; the transcript on standard error
  --no-color     as NO_COLOR
  --help

Exit codes: 0 shown, 1 not shown, 2 wrong usage, 3 could not run, 4 could not be judged (a part is
missing here, or the machine was too busy), 130 interrupted.
`;
}

function find(name: string): Experiment {
  const found = EXPERIMENTS.find((one) => one.name === name);
  if (found === undefined) {
    const names = EXPERIMENTS.map((one) => one.name);
    throw new LabError(
      "LAB_USAGE",
      `lastcall lab has no experiment '${name}'.`,
      `${didYouMean(name, names)}There are ${names.join(", ")}.`,
    );
  }
  return found;
}

function codeOf({ shows }: Judgement): ExitCode {
  return shows === null ? EXIT.invalidRun : shows ? EXIT.pass : EXIT.failed;
}

async function run(args: readonly string[], io: Io): Promise<ExitCode> {
  const [name, ...rest] = args;
  if (name === undefined) {
    io.out(`The classic experiments: lastcall lab NAME\n\n${list()}`);
    return EXIT.pass;
  }
  if (name === "--help" || name === "-h") {
    io.out(help());
    return EXIT.pass;
  }
  if (name.startsWith("-")) {
    throw new LabError(
      "LAB_USAGE",
      "The name of the experiment comes first.",
      "For example: lastcall lab signal --json",
    );
  }
  const experiment = find(name);
  const { values, command } = readFlags("lab", rest, FLAGS);
  if (values["help"] === true) {
    io.out(help());
    return EXIT.pass;
  }
  if (command !== undefined) {
    throw new LabError(
      "LAB_USAGE",
      "The experiments run the orders service, not a command.",
      "For a service of yours: lastcall check, lastcall rollout or lastcall prove.",
    );
  }
  const json = values["json"] === true;
  const keep = values["keep"];
  const style = styleFor(isatty(json ? 2 : 1), values["no-color"] === true, io.env);
  const tale = startTale(json ? io.err : io.out, style);
  const stage = openStage({
    tale,
    env: io.env,
    interrupted: io.interrupted,
    ...(typeof keep === "string" ? { folder: path.resolve(io.cwd, keep) } : {}),
  });
  const document = (more: Readonly<Record<string, unknown>>): void => {
    if (json) {
      io.out(`${JSON.stringify({ schema: "lastcall.lab/1", experiment: name, ...more }, null, 2)}\n`);
    }
  };
  try {
    tale.title(`lastcall lab ${name}`, experiment.question);
    const { facts, judgement } = await experiment.play(stage);
    tale.judgement(judgement);
    const exitCode = codeOf(judgement);
    document({ exitCode, ...judgement, facts });
    return exitCode;
  } catch (error) {
    if (!(error instanceof Interrupted)) {
      throw error;
    }
    const known = Object.keys(stage.facts);
    io.err(
      `\nInterrupted: nothing is judged. ${known.length === 0 ? "No case was through." : `Through: ${known.join("; ")}.`}\n`,
    );
    document({
      exitCode: EXIT.interrupted,
      shows: null,
      line: "Interrupted.",
      checks: [],
      facts: stage.facts,
    });
    return EXIT.interrupted;
  } finally {
    await stage.close();
  }
}

export const labCommand: Command = {
  summary: "the classic experiments on graceful shutdown, played and judged",
  run,
};
