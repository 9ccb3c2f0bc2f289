/** The command `lastcall` as its users run it: a real process, what it says, and how it ends. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { makeFolder } from "../folder.ts";

export const LASTCALL: string = fileURLToPath(new URL("../../../bin/lastcall.js", import.meta.url));

export interface Done {
  /** Null: a signal ended it. */
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

export interface Running {
  readonly child: ChildProcess;
  /** What it has said on standard error so far. */
  readonly err: () => string;
  readonly done: Promise<Done>;
}

export interface StartOptions {
  readonly cwd?: string;
  /** Beside the environment of the test. */
  readonly env?: Readonly<Record<string, string>>;
}

export function startLastcall(args: readonly string[], { cwd, env }: StartOptions = {}): Running {
  const child = spawn(process.execPath, [LASTCALL, ...args], {
    cwd,
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (part: string) => (out += part));
  child.stderr.setEncoding("utf8").on("data", (part: string) => (err += part));
  const done = once(child, "close").then(([code]): Done => ({ code: code as number | null, out, err }));
  return { child, err: () => err, done };
}

/** A folder to start it in, with this as its lastcall.config.json. */
export function folderWith(config: object | undefined, name: string): string {
  const folder = makeFolder(name);
  if (config !== undefined) {
    writeFileSync(path.join(folder, "lastcall.config.json"), JSON.stringify(config));
  }
  return folder;
}
