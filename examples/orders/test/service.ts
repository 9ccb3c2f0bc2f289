/** Starts the orders service as a real child process, asks it things, and reads what it left behind. */

import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import type { TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { readOrders } from "../src/read-orders.ts";

export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  readonly json: Readonly<Record<string, unknown>>;
}

export interface Ending {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  /** Since the stop signal was sent. */
  readonly afterMs: number;
}

export interface Service {
  readonly child: ChildProcess;
  readonly port: number;
  readonly startLine: string;
  readonly ordersFile: string;
  /** On a connection of its own unless an agent is given. Rejects when no answer comes. */
  ask(method: string, path: string, body?: unknown, agent?: http.Agent): Promise<Answer>;
  /** Resolves when the access log has this many START lines that hold `word`. */
  started(word: string, count?: number): Promise<void>;
  /** Resolves when the events file has this event. */
  noted(event: string): Promise<void>;
  /** Sends the signal and waits for the end. */
  stop(signal: NodeJS.Signals): Promise<Ending>;
  events(): readonly Readonly<Record<string, unknown>>[];
  eventNames(): readonly unknown[];
  accessLog(): readonly string[];
  outboxTags(): readonly unknown[];
  executed(): readonly string[];
  orders(): readonly string[];
  stderr(): string;
}

export const serverFile: string = fileURLToPath(new URL("../src/server.js", import.meta.url));

/** Ends with the test, whatever happens. */
export async function startService(
  context: TestContext,
  build: string,
  args: readonly string[] = [],
  folder: string = mkdtempSync(path.join(tmpdir(), "orders-test-")),
): Promise<Service> {
  const file = (name: string): string => path.join(folder, name);
  const lines = (name: string): readonly string[] =>
    existsSync(file(name)) ? readFileSync(file(name), "utf8").split("\n").filter(Boolean) : [];
  const events = (): readonly Readonly<Record<string, unknown>>[] =>
    lines("events").map((line) => JSON.parse(line) as Readonly<Record<string, unknown>>);
  const files = ["db", "events", "outbox", "access-log", "executed"].flatMap((name) => [
    `--${name}`,
    file(name),
  ]);
  const child = spawn(
    process.execPath,
    [serverFile, "--build", build, "--port", "0", ...files, ...args],
    // Nothing of the surrounding environment may change the budget.
    { stdio: ["ignore", "pipe", "pipe"], env: { PATH: process.env["PATH"], COPY: "test-copy" } },
  );
  const exited = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  let stderr = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  context.after(async () => {
    child.kill("SIGKILL");
    await exited;
    rmSync(folder, { recursive: true, force: true });
  });
  const startLine = await Promise.race([
    once(createInterface(child.stdout), "line").then(([line]) => String(line)),
    exited.then(() => Promise.reject(new Error(`it never listened: ${stderr}`))),
  ]);
  const port = Number(/:(\d+),/.exec(startLine)?.[1]);
  return {
    child,
    port,
    startLine,
    ordersFile: file("db"),
    ask: (method, url, body, agent) => ask(port, method, url, body, agent),
    started: (word, count = 1) =>
      until(
        () =>
          lines("access-log").filter((line) => / START /.test(line) && line.includes(word)).length >= count,
      ),
    noted: (name) => until(() => events().some(({ event }) => event === name)),
    async stop(signal) {
      const began = performance.now();
      child.kill(signal);
      const [code, by] = await exited;
      return { code, signal: by, afterMs: performance.now() - began };
    },
    events,
    eventNames: () => events().map(({ event }) => event),
    accessLog: () => lines("access-log"),
    outboxTags: () => lines("outbox").map((line) => (JSON.parse(line) as { readonly tag: unknown }).tag),
    executed: () => lines("executed"),
    orders: () => readOrders(file("db")),
    stderr: () => stderr,
  };
}

/** The files of another process give no event to wait for; a short look again is the nearest thing. */
export async function until(condition: () => boolean): Promise<void> {
  for (let n = 0; n < 1000; n += 1) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error("what was waited for did not happen within 10 s");
}

export function ask(
  port: number,
  method: string,
  url: string,
  body?: unknown,
  agent?: http.Agent,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const request = http.request(
      { host: "127.0.0.1", port, method, path: url, agent: agent ?? false },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk: string) => (text += chunk));
        response.once("error", reject);
        response.once("end", () => {
          const { statusCode: status = 0, headers } = response;
          const isJson = headers["content-type"] === "application/json";
          const json = (isJson ? JSON.parse(text) : {}) as Answer["json"];
          resolve({ status, headers, body: text, json });
        });
      },
    );
    request.once("error", reject);
    request.end(body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body));
  });
}
