/** Other platforms' tasks: ECS task definitions, Nomad jobs, pm2 ecosystem files, supervisord programs. */

import type { Argument } from "../parse/dockerfile.ts";
import { argumentOf } from "../parse/package-json.ts";
import { type Setting, type Unit } from "../parse/systemd.ts";
import { type Tree, get, items, keyAt, number, text } from "../parse/tree.ts";
import { readYaml } from "../parse/yaml.ts";
import { makeSource, place, type Place, type Source } from "../source.ts";
import { goDuration } from "../time.ts";
import { join } from "./compose.ts";
import { wordsOfString } from "./chain.ts";
import { toArguments } from "./prestop.ts";
import type { EnvValue, Platform, Timer } from "./workload.ts";

export interface Task {
  readonly platform: Platform;
  readonly label: string;
  readonly name: string;
  readonly at: Place;
  readonly timer: Timer;
  readonly image: string | undefined;
  readonly entrypoint: readonly Argument[] | undefined;
  readonly command: readonly Argument[] | undefined;
  readonly environment: ReadonlyMap<string, EnvValue>;
  readonly stopSignal: { readonly signal: string; readonly at: Place } | undefined;
  readonly init: boolean;
  /** The file that is started, and the folder whose source files are the service's where it is the only one. */
  readonly script: string | undefined;
  readonly folder: string | undefined;
  /** A cap that the platform puts on the timer. */
  readonly capMs: number | undefined;
}

function timerOf(
  name: string,
  tree: Tree | undefined,
  ms: number | undefined,
  fallback: { ms: number; of: string },
  at: Place,
): Timer {
  return tree === undefined || ms === undefined
    ? { name, ms: fallback.ms, origin: { kind: "default", of: fallback.of }, at }
    : { name, ms, origin: { kind: "file", at: tree.at }, at: tree.at };
}

function environmentOf(list: Tree | undefined): ReadonlyMap<string, EnvValue> {
  return new Map(
    items(list).flatMap((item) => {
      const name = text(get(item, "name"));
      const value = text(get(item, "value"));
      return name === undefined || value === undefined ? [] : [[name, { value, at: item.at }] as const];
    }),
  );
}

export function ecsTasks(tree: Tree): readonly Task[] {
  const fargate = items(get(tree, "requiresCompatibilities")).some((one) => text(one) === "FARGATE");
  return items(get(tree, "containerDefinitions")).map((container) => {
    const stop = get(container, "stopTimeout");
    const seconds = number(stop);
    const name = text(get(container, "name")) ?? "?";
    const at = get(container, "name")?.at ?? container.at;
    return {
      platform: "ecs",
      label: "ECS container",
      name,
      at,
      timer: timerOf(
        "stopTimeout",
        stop,
        seconds === undefined ? undefined : seconds * 1000,
        { ms: 30_000, of: "ECS" },
        at,
      ),
      image: text(get(container, "image")),
      entrypoint: toArguments(get(container, "entryPoint")),
      command: toArguments(get(container, "command")),
      environment: environmentOf(get(container, "environment")),
      stopSignal: undefined,
      init: text(get(container, "linuxParameters", "initProcessEnabled")) === "true",
      script: undefined,
      folder: undefined,
      capMs: fargate ? 120_000 : undefined,
    };
  });
}

export function nomadTasks(job: Tree): readonly Task[] {
  return items(get(job, "TaskGroups")).flatMap((group) =>
    items(get(group, "Tasks")).map((task): Task => {
      const kill = get(task, "KillTimeout");
      // The API writes nanoseconds, people write "30s".
      const nanoseconds = number(kill);
      const ms = nanoseconds === undefined ? goDuration(text(kill) ?? "") : nanoseconds / 1e6;
      const name = text(get(task, "Name")) ?? "?";
      const at = get(task, "Name")?.at ?? task.at;
      const signal = get(task, "KillSignal");
      const command = get(task, "Config", "command");
      const args = toArguments(get(task, "Config", "args")) ?? [];
      const first = text(command);
      return {
        platform: "nomad",
        label: "Nomad task",
        name,
        at,
        timer: timerOf(
          "kill_timeout",
          kill,
          kill === undefined ? undefined : ms,
          { ms: 5000, of: "Nomad" },
          at,
        ),
        image: text(get(task, "Config", "image")),
        entrypoint: undefined,
        command:
          command === undefined || first === undefined ? undefined : [argumentOf(command, first), ...args],
        environment: new Map(),
        stopSignal: signal === undefined ? undefined : { signal: text(signal) ?? "", at: signal.at },
        init: false,
        script: undefined,
        folder: undefined,
        capMs: undefined,
      };
    }),
  );
}

/** An ecosystem file's object: JSON, or a literal that YAML's flow syntax can read too. */
export function ecosystemTree(source: Source): Tree | undefined {
  const start = /(?:module\.exports\s*=|export\s+default)\s*\{/.exec(source.text);
  const from = start === null ? source.text.indexOf("{") : start.index + start[0].length - 1;
  if (from === -1) {
    return undefined;
  }
  const end = source.text.lastIndexOf("}");
  const body = source.text
    .slice(from, end + 1)
    .replaceAll(
      /(^|[\s,{[])\/\/[^\n]*/g,
      (comment, lead: string) => lead + " ".repeat(comment.length - lead.length),
    )
    .replaceAll(/`[^`]*`/g, (quoted) => `"${" ".repeat(quoted.length - 2)}"`);
  // Newlines before it are kept, so that offsets and lines stay those of the file.
  const before = source.text.slice(0, from).replaceAll(/[^\n]/g, " ");
  const read = readYaml(makeSource(source.path, before + body));
  return read.problems.length > 0 ? undefined : read.documents[0];
}

export function pm2Apps(tree: Tree, folder: string): readonly Task[] {
  const apps = items(get(tree, "apps"));
  return apps.map((app) => {
    const name = text(get(app, "name")) ?? text(get(app, "script")) ?? "?";
    const at = get(app, "name")?.at ?? keyAt(app, "script") ?? app.at;
    const kill = get(app, "kill_timeout");
    const script = get(app, "script");
    const path = text(script);
    return {
      platform: "pm2",
      label: "pm2 app",
      name,
      at,
      timer: timerOf("kill_timeout", kill, number(kill), { ms: 1600, of: "pm2" }, at),
      image: undefined,
      entrypoint: undefined,
      command: script === undefined || path === undefined ? undefined : [argumentOf(script, path)],
      environment: new Map(),
      stopSignal: { signal: "SIGINT", at },
      init: false,
      script: path === undefined ? undefined : join(join(folder, text(get(app, "cwd")) ?? "."), path),
      folder: apps.length === 1 ? join(folder, text(get(app, "cwd")) ?? ".") : undefined,
      capMs: undefined,
    };
  });
}

export function supervisorPrograms(unit: Unit): readonly Task[] {
  const names = new Set(
    [...unit.settings.keys()].flatMap((key) => /^program:([^.]+)\./.exec(key)?.[1] ?? []),
  );
  return [...names].map((name) => {
    const setting = (key: string): Setting | undefined => unit.settings.get(`program:${name}.${key}`)?.at(-1);
    const wait = setting("stopwaitsecs");
    const signal = setting("stopsignal");
    const command = setting("command");
    const at = command?.at ?? place(unit.source, 0, 0);
    const seconds = wait === undefined ? undefined : Number(wait.value);
    return {
      platform: "supervisor",
      label: "supervisord program",
      name,
      at,
      timer:
        wait === undefined || seconds === undefined || !Number.isFinite(seconds)
          ? { name: "stopwaitsecs", ms: 10_000, origin: { kind: "default", of: "supervisord" }, at }
          : { name: "stopwaitsecs", ms: seconds * 1000, origin: { kind: "file", at: wait.at }, at: wait.at },
      image: undefined,
      entrypoint: undefined,
      command:
        command === undefined
          ? undefined
          : wordsOfString({ text: command.value, at: command.valueAt, exact: false }),
      environment: new Map(),
      stopSignal: signal === undefined ? undefined : { signal: signal.value, at: signal.at },
      init: false,
      script: undefined,
      folder: undefined,
      capMs: undefined,
    };
  });
}
