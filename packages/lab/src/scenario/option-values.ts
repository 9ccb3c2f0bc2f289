/** One value of an option from its text, or `LAB_OPTION` with what was seen, the limit and what to do. */

import { formatDuration, parseDuration } from "../duration.ts";
import { LabError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";

export function refuse(message: string, next: string): never {
  throw new LabError("LAB_OPTION", message, next);
}

export function duration(
  flag: string,
  text: string | undefined,
  fallbackMs: number,
  minMs: number,
  maxMs: number,
): number {
  if (text === undefined) {
    return fallbackMs;
  }
  const ms = parseDuration(text);
  if (ms === null) {
    refuse(`--${flag} '${text}' is no duration.`, "Write a number with its unit: 500ms, 2.5s, 1m (or 0).");
  }
  if (ms < minMs || ms > maxMs) {
    refuse(
      `--${flag} ${text} is out of range.`,
      `It may be ${formatDuration(minMs)} to ${formatDuration(maxMs)}.`,
    );
  }
  return ms;
}

export function number(
  flag: string,
  text: string | undefined,
  fallback: number,
  min: number,
  max: number,
  whole = true,
): number {
  if (text === undefined) {
    return fallback;
  }
  const value = /^-?\d+(?:\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value) || (whole && !Number.isInteger(value))) {
    refuse(`--${flag} '${text}' is no ${whole ? "whole " : ""}number.`, `It may be ${min} to ${max}.`);
  }
  if (value < min || value > max) {
    refuse(`--${flag} ${text} is out of range.`, `It may be ${min} to ${max}.`);
  }
  return value;
}

export function oneOf<const T extends string>(
  flag: string,
  text: string | undefined,
  known: readonly T[],
): T | undefined {
  if (text === undefined || known.includes(text as T)) {
    return text as T | undefined;
  }
  return refuse(
    `--${flag} knows no '${text}'.`,
    `${didYouMean(text, known)}It may be ${known.slice(0, -1).join(", ")} or ${known.at(-1) ?? ""}.`,
  );
}

export function route(flag: string, text: string | undefined): string | undefined {
  if (text !== undefined && !text.startsWith("/")) {
    refuse(`--${flag} '${text}' is no path.`, "A path starts with /; it may hold {id}.");
  }
  if (text !== undefined && /[\s\r\n]/.test(text)) {
    refuse(`--${flag} '${text}' holds white space.`, "Write it percent-encoded, as it is sent.");
  }
  return text;
}
