/** An object of the configuration all of whose names are known: what is misspelt is named, not passed over. */

import { LabError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { KEY_NAMES } from "./names.ts";

export type Json = Readonly<Record<string, unknown>>;

export function refuse(message: string, next: string): never {
  throw new LabError("LAB_CONFIG", message, next);
}

export function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Refuses names that nobody knows; `place` is where they stand, such as `prove.routes`. */
export function assertKnown(place: string, value: Json, known: Readonly<Record<string, string>>): void {
  const names = Object.keys(known);
  for (const name of Object.keys(value)) {
    if (!names.includes(name)) {
      refuse(`There is no ${place}.${name}.`, `${didYouMean(name, names)}Known are ${names.join(", ")}.`);
    }
  }
}

/** The object at `key`, with each of its names known. */
export function group(config: Json, key: string, known: Readonly<Record<string, string>>): Json {
  const value = config[key] ?? {};
  if (!isObject(value)) {
    return refuse(
      `prove.${key} is ${JSON.stringify(value)}.`,
      `It takes an object: ${KEY_NAMES[key] ?? ""}.`,
    );
  }
  assertKnown(`prove.${key}`, value, known);
  return value;
}
