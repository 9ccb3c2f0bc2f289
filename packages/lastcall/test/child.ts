/** A real child process of a fixture: what it says, what it answers, how it ends. Ends with its test, whatever happens. */

import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import http from "node:http";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import type { ShutdownRecord } from "../src/index.ts";

export interface ChildOptions {
  readonly args?: readonly string[];
  readonly nodeArgs?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** A channel for messages to the child. */
  readonly channel?: boolean;
  /** Something to write to; default: nothing. */
  readonly stdin?: boolean;
  /** What runs the program; default: this Node. */
  readonly command?: readonly string[];
}

export interface Child {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Resolves when standard output has this text. */
  said(text: string): Promise<void>;
  /** Resolves when standard error has this text. */
  warned(text: string): Promise<void>;
  /** Resolves with the next that it says. */
  more(stream?: "stdout" | "stderr"): Promise<void>;
  /** The port after `listening`, or after another word. */
  port(word?: string): Promise<number>;
  /** The exit code, or the signal's name. */
  ended(): Promise<number | NodeJS.Signals>;
  /** The first record on standard error; null when there is none. */
  record(): ShutdownRecord | null;
  /** Those of all its processes and threads, in the order in which they came. */
  records(): readonly ShutdownRecord[];
}

export const AUTO: string = new URL("../src/auto.js", import.meta.url).href;

export function fixture(name: string): string {
  return fileURLToPath(new URL(`fixtures/${name}.js`, import.meta.url));
}

export function start(context: TestContext, program: string, options: ChildOptions = {}): Child {
  const [command = process.execPath, ...before] = options.command ?? [process.execPath];
  const child = spawn(command, [...before, ...(options.nodeArgs ?? []), program, ...(options.args ?? [])], {
    stdio: [
      options.stdin === true ? "pipe" : "ignore",
      "pipe",
      "pipe",
      ...(options.channel === true ? ["ipc" as const] : []),
    ],
    env: { PATH: process.env["PATH"], ...options.env },
  });
  const closed = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  const texts = { stdout: "", stderr: "" };
  const { stdout, stderr } = child;
  assert.ok(stdout !== null && stderr !== null);
  const streams = { stdout, stderr };
  for (const name of ["stdout", "stderr"] as const) {
    streams[name].setEncoding("utf8").on("data", (text: string) => {
      texts[name] += text;
    });
  }
  context.after(async () => {
    child.kill("SIGKILL");
    await closed;
  });
  const has = async (name: "stdout" | "stderr", text: string): Promise<void> => {
    while (!texts[name].includes(text)) {
      const more = once(streams[name], "data");
      const ended = await Promise.race([more.then(() => false), closed.then(() => true)]);
      if (ended && !texts[name].includes(text)) {
        throw new Error(`It ended without '${text}': ${texts.stdout}${texts.stderr}`);
      }
    }
  };
  const records = (): readonly ShutdownRecord[] =>
    texts.stderr
      .split("\n")
      .filter((line) => line.startsWith('{"schema":"lastcall.record/'))
      .map((line) => JSON.parse(line) as ShutdownRecord);
  return {
    process: child,
    stdout: () => texts.stdout,
    stderr: () => texts.stderr,
    said: (text) => has("stdout", text),
    more: async (stream = "stdout") => void (await once(streams[stream], "data")),
    warned: (text) => has("stderr", text),
    async port(word = "listening") {
      await has("stdout", `${word} `);
      return Number(new RegExp(`${word} (\\d+)\n`).exec(texts.stdout)?.[1]);
    },
    async ended() {
      const [code, signal] = await closed;
      return code ?? signal ?? "SIGKILL";
    },
    record: () => records()[0] ?? null,
    records,
  };
}

/** One request, on a connection of its own unless there is an agent; `refused` when nobody listens, `cut` when the answer does not come whole. */
export function ask(
  port: number,
  path: string,
  agent: http.Agent | false = false,
): Promise<{ readonly status: number | "refused" | "cut"; readonly body: string }> {
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path, agent }, (response) => {
      let body = "";
      response.setEncoding("utf8").on("data", (text: string) => {
        body += text;
      });
      response.once("error", () => resolve({ status: "cut", body }));
      response.once("end", () => resolve({ status: response.statusCode ?? 0, body }));
    });
    request.once("error", (error: NodeJS.ErrnoException) =>
      resolve({ status: error.code === "ECONNREFUSED" ? "refused" : "cut", body: "" }),
    );
  });
}
