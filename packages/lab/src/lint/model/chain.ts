/**
 * From the words of a command to the processes that stand between the stop signal and the program. Its parts call one another
 * (a script runs a package manager runs a shell), which is why they are in one file.
 */

import type { Link, PackageManager } from "./link.ts";
import { baseName, DEV, isDevMode, looksLikeScript, MULTI } from "./runners.ts";
import { initChild, skipAssignments, skipTransparent } from "./wrappers.ts";
import { handover, type Handover, type ShellName } from "../parse/handover.ts";
import { parseShell } from "../parse/shell.ts";
import { splitWords } from "../parse/shell-words.ts";
import type { Argument } from "../parse/dockerfile.ts";
import type { PackageJson } from "../parse/package-json.ts";
import { type Place, type Source, place } from "../source.ts";

export interface ChainContext {
  readonly shell: ShellName;
  /** Finds a script that the command names, where its text is at hand. */
  readonly script: (path: string) => Source | undefined;
  readonly packageJson: PackageJson | undefined;
}

const MAX_LINKS = 12;
const SHELLS = new Set(["sh", "bash", "ash", "dash", "zsh", "ksh"]);

/** The chain of a command. */
export function resolveArgv(args: readonly Argument[], context: ChainContext, depth = 0): readonly Link[] {
  const [first, ...rest] = skipTransparent(args);
  if (first === undefined || depth > MAX_LINKS) {
    return [];
  }
  const name = baseName(first.text);
  const deeper = (next: readonly Argument[], shell?: ShellName): readonly Link[] =>
    resolveArgv(next, shell === undefined ? context : { ...context, shell }, depth + 1);
  switch (name) {
    case "tini":
    case "tini-static":
    case "docker-init":
    case "catatonit":
    case "dumb-init": {
      const { child, group } = initChild(name, rest);
      return [{ kind: "init", name, group, at: first.at }, ...deeper(child)];
    }
    case "npm":
    case "yarn":
    case "pnpm":
    case "bun":
    case "npx":
      return packageManager(name, first, rest, context, depth);
    case "pm2-runtime":
    case "pm2-docker":
    case "pm2":
      return [{ kind: "runner", name, role: "pm2", at: first.at }];
    case "cross-env":
    case "cross-env-shell":
    case "dotenv":
      // Measured: they forward the signal and wait.
      return deeper(skipAssignments(rest));
    default:
  }
  if (SHELLS.has(name)) {
    return shellLinks(name, first, rest, context, depth);
  }
  if (DEV.has(name) || isDevMode(name, rest)) {
    return [{ kind: "runner", name, role: "dev", at: first.at }];
  }
  if (MULTI.has(name)) {
    return [{ kind: "runner", name, role: name === "supervisord" ? "supervisor" : "multi", at: first.at }];
  }
  const script =
    /\.(sh|bash)$/.test(name) || looksLikeScript(first.text) ? context.script(first.text) : undefined;
  if (script !== undefined) {
    return scriptLinks(script, context, rest, depth);
  }
  return [{ kind: "program", name, words: [first, ...rest], at: first.at }];
}

function shellLinks(
  name: string,
  first: Argument,
  rest: readonly Argument[],
  context: ChainContext,
  depth: number,
): readonly Link[] {
  const own: ShellName =
    name === "bash"
      ? "bash"
      : name === "dash"
        ? "dash"
        : name === "ash"
          ? "ash"
          : name === "sh"
            ? context.shell
            : "unknown";
  let at = 0;
  let command = false;
  while (/^[-+]\w/.test(rest[at]?.text ?? "")) {
    command ||= /^-\w*c$/.test(rest[at]?.text ?? "");
    const takesValue = rest[at]?.text === "-o" || /^-\w*o$/.test(rest[at]?.text ?? "");
    at += takesValue && !command ? 2 : 1;
  }
  const target = rest[at];
  if (target === undefined) {
    return [{ kind: "program", name, words: [first, ...rest], at: first.at }];
  }
  if (command) {
    return shellText(target, own, "wrapper", context, depth);
  }
  const script = context.script(target.text);
  return script === undefined
    ? [{ kind: "program", name, words: [first, ...rest], at: first.at }]
    : scriptLinks(script, context, rest.slice(at + 1), depth);
}

/** The links of a piece of shell text: the shell itself, then what it runs. */
export function shellText(
  target: Argument,
  shell: ShellName,
  role: "text" | "wrapper" | "package",
  context: ChainContext,
  depth = 0,
): readonly Link[] {
  const list = parseShell(target.text);
  if (list === undefined) {
    return [
      { kind: "shell", role, shell, verdict: "unknown", plain: false, at: target.at, text: target.text },
    ];
  }
  const found = handover(list, shell, target.text);
  const inside = innerPlaces(target);
  const link: Link = {
    kind: "shell",
    role,
    shell,
    verdict: found.verdict,
    plain: found.words.length > 0,
    at: target.at,
    text: target.text,
    ...(found.fixable && target.exact ? { execAt: inside(found.start, found.start) } : {}),
  };
  return [link, ...resolveWords(found, inside, context, depth)];
}

function innerPlaces(target: Argument): (start: number, end: number) => Place {
  // Quotes, where there are any, take one character.
  const quoted = target.at.end - target.at.start === target.text.length + 2 ? 1 : 0;
  const base = target.at.start + quoted;
  return (start, end) => (target.exact ? place(target.at.source, base + start, base + end) : target.at);
}

function resolveWords(
  found: Handover,
  inside: (start: number, end: number) => Place,
  context: ChainContext,
  depth: number,
): readonly Link[] {
  const args = found.words.map((word) => ({
    text: word.text,
    at: inside(word.start, word.end),
    exact: false,
  }));
  return resolveArgv(args, context, depth + 1);
}

function scriptLinks(
  script: Source,
  context: ChainContext,
  rest: readonly Argument[],
  depth: number,
): readonly Link[] {
  const bang = /^#!\s*(\S+)(?:\s+(\S+))?/.exec(script.text);
  const interpreter = baseName(
    bang?.[1] === undefined ? "sh" : bang[1].endsWith("env") ? (bang[2] ?? "") : bang[1],
  );
  if (!SHELLS.has(interpreter)) {
    return [{ kind: "program", name: interpreter, words: rest, at: place(script, 0, 0) }];
  }
  const shell: ShellName = interpreter === "bash" ? "bash" : interpreter === "sh" ? context.shell : "unknown";
  const list = parseShell(script.text);
  if (list === undefined) {
    return [
      {
        kind: "shell",
        role: "script",
        shell,
        verdict: "unknown",
        plain: false,
        at: place(script, 0, 0),
        text: script.text,
      },
    ];
  }
  const found = handover(list, shell, script.text, true);
  const at = place(script, found.start, found.end);
  const link: Link = {
    kind: "shell",
    role: "script",
    shell,
    verdict: found.verdict,
    plain: found.words.length > 0,
    at,
    text: script.text,
    ...(found.fixable ? { execAt: place(script, found.start, found.start) } : {}),
  };
  // `"$@"` is whatever the script was given.
  const passes = found.words.length > 0 && /^\$[@*]$|^\$\{@\}$/.test(found.words[0]?.text ?? "");
  return passes
    ? [link, ...resolveArgv(rest, context, depth + 1)]
    : [link, ...resolveWords(found, (start, end) => place(script, start, end), context, depth)];
}

function packageManager(
  name: PackageManager,
  first: Argument,
  rest: readonly Argument[],
  context: ChainContext,
  depth: number,
): readonly Link[] {
  const words = rest.filter(({ text }) => !text.startsWith("-"));
  const verb = words[0]?.text;
  const isRun = verb === "run" || verb === "run-script";
  const script =
    name === "npx"
      ? undefined
      : isRun
        ? words[1]?.text
        : verb === "exec" || verb === "dlx" || verb === "x"
          ? undefined
          : verb;
  if (name === "bun" && !isRun) {
    return [{ kind: "program", name, words: [first, ...rest], at: first.at }];
  }
  const body = script === undefined ? undefined : context.packageJson?.scripts.get(script);
  const pinned = context.packageJson?.manager;
  const link: Link = {
    kind: "package-manager",
    name,
    major: pinned !== undefined && pinned.name === name ? pinned.major : undefined,
    script,
    known: context.packageJson !== undefined,
    at: first.at,
  };
  if (body === undefined) {
    return [link];
  }
  // npm runs scripts with /bin/sh of the image.
  return [link, ...shellText(body, context.shell, "package", context, depth + 1)];
}

/** A Compose string: split into words, never given to a shell. */
export function wordsOfString(target: Argument): readonly Argument[] | undefined {
  const inside = innerPlaces(target);
  return splitWords(target.text)?.map((word) => ({
    text: word.text,
    at: inside(word.start, word.end),
    exact: false,
  }));
}
