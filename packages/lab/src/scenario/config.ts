/** `lastcall.config.json`, key `rollout`: the flags of a rolling restart under the same names. Flags win over it. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { LabError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { withoutMark } from "./byte-order-mark.ts";

export const CONFIG_FILE = "lastcall.config.json";

/** The sections that a file may have, one for each command that reads it. */
export const SECTIONS: readonly string[] = [
  "rollout",
  "check",
  "prove",
  "lag",
  "lab",
  "lint",
  "budget",
  "report",
  "$schema",
];

export type ConfigValue = string | boolean | readonly string[];

/** Names and what each takes; `command` is a list of strings. */
export type ConfigNames = Readonly<Record<string, "string" | "boolean" | "list">>;

function refuse(message: string, next: string, cause?: unknown): never {
  throw new LabError("LAB_CONFIG", message, next, { cause });
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function valueOf(name: string, takes: "string" | "boolean" | "list", value: unknown): ConfigValue {
  if (takes === "boolean" && typeof value === "boolean") {
    return value;
  }
  if (takes === "string" && (typeof value === "string" || typeof value === "number")) {
    return String(value);
  }
  if (takes === "list" && Array.isArray(value) && value.every((part) => typeof part === "string")) {
    return value;
  }
  const wanted = { string: "a string or a number", boolean: "true or false", list: "a list of strings" }[
    takes
  ];
  return refuse(
    `rollout.${name} in ${CONFIG_FILE} is ${JSON.stringify(value)}.`,
    `It takes ${wanted}; see lastcall rollout --help.`,
  );
}

/** One command's own part of the file, unchecked; empty when there is none. */
export function readSection(text: string, section: string): Readonly<Record<string, unknown>> {
  let file: unknown;
  try {
    file = JSON.parse(withoutMark(text));
  } catch (error) {
    return refuse(
      `${CONFIG_FILE} is no JSON: ${error instanceof Error ? error.message : String(error)}.`,
      "Correct it, or remove it to use the flags alone.",
      error,
    );
  }
  if (!isObject(file)) {
    return refuse(`${CONFIG_FILE} holds no object.`, `Write {"${section}": {...}}.`);
  }
  for (const name of Object.keys(file)) {
    if (!SECTIONS.includes(name)) {
      refuse(
        `${CONFIG_FILE} has an unknown key ${name}.`,
        `${didYouMean(name, SECTIONS)}The flags of lastcall ${section} stand under "${section}".`,
      );
    }
  }
  const own = file[section];
  if (own === undefined) {
    return {};
  }
  if (!isObject(own)) {
    return refuse(`${section} in ${CONFIG_FILE} is no object.`, `Write {"${section}": {...}}.`);
  }
  return own;
}

/** Checks the parsed file. Unknown names are an error with the nearest right name. */
export function parseConfig(
  text: string,
  section: string,
  names: ConfigNames,
): Readonly<Record<string, ConfigValue>> {
  const own = readSection(text, section);
  const known = Object.keys(names);
  return Object.fromEntries(
    Object.entries(own).map(([name, value]) => {
      const takes = names[name];
      if (takes === undefined) {
        return refuse(
          `${CONFIG_FILE} has an unknown key ${section}.${name}.`,
          `${didYouMean(name, known)}Known are ${known.join(", ")}.`,
        );
      }
      return [name, valueOf(name, takes, value)];
    }),
  );
}

/** Nothing when the folder has no such file. */
export function readConfig(
  folder: string,
  section: string,
  names: ConfigNames,
): Readonly<Record<string, ConfigValue>> {
  let text: string;
  try {
    text = readFileSync(path.join(folder, CONFIG_FILE), "utf8");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") {
      return {};
    }
    return refuse(`${CONFIG_FILE} cannot be read: ${String(error)}.`, "Make it readable.", error);
  }
  return parseConfig(text, section, names);
}
