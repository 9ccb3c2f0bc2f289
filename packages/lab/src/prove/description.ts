/**
 * The description of a service for `lastcall prove`, as a person writes it: the key `prove` of lastcall.config.json, and
 * flags over it.
 */

import { LASTCALL_SETTINGS, type Subject } from "../contract/subject.ts";
import { parseDuration } from "../duration.ts";
import { LabError } from "../errors.ts";
import { assertKnown, group, isObject, refuse, type Json } from "./known-keys.ts";
import { DURATION_FORMS, KEY_NAMES, MODE_NAMES, SAYING_NAMES, SETTING_NAMES } from "./names.ts";
import { checkBraces, routes } from "./routes.ts";

function settings(config: Json): Subject["settings"] {
  const given = group(config, "settings", SETTING_NAMES);
  for (const [name, way] of Object.entries(given)) {
    const as = isObject(way) ? way["as"] : undefined;
    if (
      !isObject(way) ||
      typeof way["env"] !== "string" ||
      (as !== undefined && !DURATION_FORMS.includes(as as "250"))
    ) {
      refuse(
        `prove.settings.${name} is ${JSON.stringify(way)}.`,
        `It takes {"env": "NAME", "as": one of ${DURATION_FORMS.join(", ")}}.`,
      );
    }
  }
  return given;
}

function texts(
  config: Json,
  key: string,
  known: Readonly<Record<string, string>> | null,
): Readonly<Record<string, string>> {
  const given = known === null ? (config[key] ?? {}) : group(config, key, known);
  if (!isObject(given) || !Object.values(given).every((value) => typeof value === "string")) {
    return refuse(`prove.${key} is ${JSON.stringify(given)}.`, "It takes an object of texts.");
  }
  return given as Readonly<Record<string, string>>;
}

function door(
  config: Json,
  key: "adminPort" | "unixSocket" | "http2Port" | "handoffStore",
): { readonly env: string } | undefined {
  const value = config[key];
  if (value === undefined) {
    return undefined;
  }
  return isObject(value) && typeof value["env"] === "string"
    ? { env: value["env"] }
    : refuse(`prove.${key} is ${JSON.stringify(value)}.`, 'It takes {"env": "NAME"}.');
}

function flag(config: Json, key: string): boolean {
  const value = config[key] ?? false;
  return typeof value === "boolean"
    ? value
    : refuse(`prove.${key} is ${JSON.stringify(value)}.`, "It takes true or false.");
}

function exitCodes(config: Json): Subject["exitCodes"] {
  const given = group(config, "exitCodes", { clean: "", incomplete: "" });
  const code = (name: string, otherwise: number): number => {
    const value = given[name] ?? otherwise;
    return Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 255
      ? Number(value)
      : refuse(
          `prove.exitCodes.${name} is ${JSON.stringify(value)}.`,
          "An exit code is a whole number from 0 to 255.",
        );
  };
  return { clean: code("clean", 0), incomplete: code("incomplete", 3) };
}

function modes(config: Json): Subject["modes"] {
  const given = group(config, "modes", MODE_NAMES);
  return Object.fromEntries(Object.keys(given).map((name) => [name, texts(given, name, null)]));
}

/** A command as a name: one line, not longer than a person reads. */
function shortened(command: string): string {
  const line = command.replaceAll(/\s+/g, " ").trim();
  return line.length > LONGEST_NAME ? `${line.slice(0, LONGEST_NAME)}…` : line;
}

const LONGEST_NAME = 72;

/** What a process can handle, and a platform sends. */
const STOP_SIGNALS = ["SIGTERM", "SIGINT", "SIGQUIT", "SIGHUP", "SIGUSR1", "SIGUSR2", "SIGWINCH"];

/** Checks what was written and makes the subject of it. Command, routes and drain delay from the flags win. */
export function describeSubject(
  config: Json,
  command: readonly string[] | undefined,
  flags: Subject["routes"],
  drainDelay?: string,
): Subject {
  assertKnown("prove", config, KEY_NAMES);
  const started = command ?? config["command"];
  if (!Array.isArray(started) || started.length === 0 || !started.every((part) => typeof part === "string")) {
    throw new LabError(
      "LAB_USAGE",
      "lastcall prove needs a command to run.",
      "Put it behind --, or under prove.command as a list: lastcall prove -- node app.js",
    );
  }
  const library = config["library"];
  if (library !== undefined && library !== "lastcall") {
    refuse(
      `prove.library is ${JSON.stringify(library)}.`,
      "Only lastcall is known; describe others by settings.",
    );
  }
  const known = library === "lastcall";
  const stopSignal = config["stopSignal"] ?? "SIGTERM";
  if (typeof stopSignal !== "string" || !STOP_SIGNALS.includes(stopSignal)) {
    refuse(
      `prove.stopSignal is ${JSON.stringify(stopSignal)}.`,
      `Stop signals are ${STOP_SIGNALS.join(", ")}.`,
    );
  }
  const name = config["name"] ?? shortened(started.join(" "));
  if (typeof name !== "string") {
    return refuse(`prove.name is ${JSON.stringify(name)}.`, "It takes a text.");
  }
  const asked: Subject["routes"] = { ordinary: "GET /", ...routes(config), ...flags };
  checkBraces(asked);
  const set = settings(config);
  const fixed =
    known || set.drainDelay !== undefined ? undefined : fixedDrainDelay(drainDelay ?? config["drainDelay"]);
  const adminPort = door(config, "adminPort") ?? (known ? { env: "LASTCALL_ADMIN_PORT" } : undefined);
  const unixSocket = door(config, "unixSocket");
  const http2Port = door(config, "http2Port");
  const handoffStore = door(config, "handoffStore");
  return {
    name,
    command: started,
    env: texts(config, "env", null),
    announces: flag(config, "announces"),
    tls: flag(config, "tls"),
    stopSignal: stopSignal as NodeJS.Signals,
    routes: asked,
    settings: { ...(known ? LASTCALL_SETTINGS : {}), ...set },
    says: texts(config, "says", SAYING_NAMES),
    modes: modes(config),
    ...(adminPort === undefined ? {} : { adminPort }),
    ...(unixSocket === undefined ? {} : { unixSocket }),
    ...(http2Port === undefined ? {} : { http2Port }),
    ...(handoffStore === undefined ? {} : { handoffStore }),
    ...(fixed === undefined ? {} : { fixedDrainDelayMs: fixed }),
    record: known || flag(config, "record"),
    exitCodes: exitCodes(config),
  };
}

const LONGEST_DELAY_MS = 120_000;

/** Most services have none: they close at the signal. */
function fixedDrainDelay(given: unknown): number {
  const parsed = typeof given === "string" ? parseDuration(given) : given === undefined ? 0 : null;
  if (parsed === null || parsed > LONGEST_DELAY_MS) {
    return refuse(
      `The drain delay is ${JSON.stringify(given)}.`,
      "Write a duration such as 0, 500ms or 5s; prove waits it out, so 2m at most.",
    );
  }
  return parsed;
}
