/** Dockerfiles, through `dockerfile-ast`: stages, arguments with defaults, and the commands in either form, with places. */

import { createRequire } from "node:module";
import type { DockerfileParser, Instruction, JSONInstruction } from "dockerfile-ast";
import { type Place, type Source, place } from "../source.ts";

export interface Argument {
  readonly text: string;
  readonly at: Place;
  /** The characters at `at` (quotes aside) are exactly `text`, so that offsets inside can be trusted. */
  readonly exact: boolean;
}

export interface DockerCommand {
  readonly keyword: string;
  readonly at: Place;
  /** The exec form's words; undefined for the text form. */
  readonly words: readonly Argument[] | undefined;
  /** The text after the keyword, continuation lines included. */
  readonly text: string;
  readonly textAt: Place;
}

export interface Stage {
  readonly name: string | undefined;
  /** The image or stage that FROM names, build arguments with defaults filled in. */
  readonly from: string;
  readonly at: Place;
  readonly instructions: readonly DockerCommand[];
}

export interface Dockerfile {
  readonly kind: "dockerfile";
  readonly source: Source;
  /** The folder, as the paths of COPY see it. */
  readonly folder: string;
  readonly stages: readonly Stage[];
}

/** Loaded when the first Dockerfile is read: one manifest alone should be checked in a blink. */
function parser(): typeof DockerfileParser {
  const loaded = createRequire(import.meta.url)("dockerfile-ast") as {
    readonly DockerfileParser: typeof DockerfileParser;
  };
  return loaded.DockerfileParser;
}

export function readDockerfile(source: Source, folder: string): Dockerfile {
  const parsed = parser().parse(source.text);
  const args = new Map<string, string>();
  const stages: { name: string | undefined; from: string; at: Place; instructions: DockerCommand[] }[] = [];
  for (const instruction of parsed.getInstructions()) {
    const keyword = instruction.getKeyword().toUpperCase();
    const command = toCommand(source, keyword, instruction);
    if (keyword === "ARG" && stages.length === 0) {
      const match = /^(\w+)=("?)(.*)\2$/s.exec(command.text.trim());
      if (match !== null) {
        args.set(match[1] ?? "", match[3] ?? "");
      }
    } else if (keyword === "FROM") {
      const words = command.text
        .trim()
        .split(/\s+/)
        .filter((word) => !word.startsWith("--"));
      const name = /^as$/i.test(words[1] ?? "") ? words[2]?.toLowerCase() : undefined;
      stages.push({ name, from: expand(words[0] ?? "", args), at: command.at, instructions: [] });
    } else {
      stages.at(-1)?.instructions.push(command);
    }
  }
  return { kind: "dockerfile", source, folder, stages };
}

/** `${NAME}`, `$NAME` and `${NAME:-default}` with what is known; the rest stays as it is. */
export function expand(text: string, values: ReadonlyMap<string, string>): string {
  return text.replace(
    /\$(?:\{(\w+)(?::?-([^}]*))?\}|(\w+))/g,
    (whole, braced: string | undefined, fallback: string | undefined, bare: string | undefined) =>
      values.get(braced ?? bare ?? "") ?? fallback ?? whole,
  );
}

function toCommand(source: Source, keyword: string, instruction: Instruction): DockerCommand {
  const range = instruction.getRange();
  const at = place(source, offset(source, range.start), offset(source, range.end));
  const argumentsRange = instruction.getArgumentsRange();
  const textAt =
    argumentsRange === null
      ? place(source, at.end, at.end)
      : place(source, offset(source, argumentsRange.start), offset(source, argumentsRange.end));
  const text = source.text.slice(textAt.start, textAt.end);
  return { keyword, at, text, textAt, words: execWords(source, keyword, instruction, text) };
}

function execWords(
  source: Source,
  keyword: string,
  instruction: Instruction,
  text: string,
): readonly Argument[] | undefined {
  if (!["CMD", "ENTRYPOINT", "SHELL", "RUN"].includes(keyword) || !/^\s*\[/.test(text)) {
    return undefined;
  }
  // The exec form is JSON; anything else that merely looks like it is run as text, which Docker does too.
  let values: unknown;
  try {
    values = JSON.parse(text.replaceAll(/\\\r?\n/g, ""));
  } catch {
    return undefined;
  }
  if (!Array.isArray(values) || !values.every((value) => typeof value === "string")) {
    return undefined;
  }
  const strings = (instruction as JSONInstruction).getJSONStrings();
  return values.map((value: string, index) => {
    const range = strings[index]?.getRange();
    const at =
      range === undefined
        ? place(
            source,
            offset(source, instruction.getRange().start),
            offset(source, instruction.getRange().end),
          )
        : place(source, offset(source, range.start), offset(source, range.end));
    return { text: value, at, exact: source.text.slice(at.start + 1, at.end - 1) === value };
  });
}

function offset(source: Source, at: { line: number; character: number }): number {
  return (source.starts[at.line] ?? source.text.length) + at.character;
}

/** The last instruction of a kind in a stage. */
export function lastOf(stage: Stage, keyword: string): DockerCommand | undefined {
  return stage.instructions.findLast((command) => command.keyword === keyword);
}
