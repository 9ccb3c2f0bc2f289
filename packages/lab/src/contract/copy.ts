/** One running copy of the service: started, signalled, listened to, and surely ended. */

import { type ChildProcess, spawn } from "node:child_process";
import { createServer } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { type Mode, type Setting, type Subject, fill, writeSetting } from "./subject.ts";
import {
  type Address,
  type Answer,
  type OpenOptions,
  Refused,
  type Target,
  type Wire,
  openWire,
} from "./wire.ts";

export interface Line {
  readonly atMs: number;
  readonly from: "stdout" | "stderr";
  readonly text: string;
}

export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly atMs: number;
}

export interface StartPlan {
  readonly set?: Readonly<Partial<Record<Setting, number | string>>>;
  readonly mode?: Mode;
  /** Variables on top of all others. */
  readonly env?: Readonly<Record<string, string>>;
  /** A unix socket's path to listen on as well. */
  readonly unixSocket?: string;
  /** Open the admin port. */
  readonly admin?: boolean;
  /** Return when this line has come instead of when the service serves. */
  readonly until?: RegExp;
  /** A listening socket to pass on as descriptor 3. */
  readonly inherit?: number;
}

/** The copy did not come up. */
export class StartFailed extends Error {
  override readonly name = "StartFailed";
}

export class Copy {
  readonly #child: ChildProcess;
  readonly #subject: Subject;
  readonly #heard: Line[] = [];
  readonly #waiting = new Set<() => void>();
  #exit: Exit | null = null;
  port = 0;
  adminPort: number | null = null;
  /** When the first stop signal was sent, on `performance.now()`. */
  t0Ms: number | null = null;
  /** The exit, with everything that the process had written read. */
  readonly exited: Promise<Exit>;

  constructor(subject: Subject, child: ChildProcess) {
    this.#subject = subject;
    this.#child = child;
    for (const from of ["stdout", "stderr"] as const) {
      let rest = "";
      child[from]?.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        const atMs = performance.now();
        this.#heard.push(...lines.map((text) => ({ atMs, from, text })));
        this.#wake();
      });
    }
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        this.#exit = { code, signal, atMs: performance.now() };
        this.#wake();
      });
      child.once("close", () => resolve(this.#exit ?? { code: null, signal: null, atMs: performance.now() }));
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  get running(): boolean {
    return this.#exit === null;
  }

  get lines(): readonly Line[] {
    return this.#heard;
  }

  /** What it wrote last, for a person. */
  get tail(): string {
    return this.#heard
      .slice(-6)
      .map((line) => line.text)
      .join("\n");
  }

  signal(name: NodeJS.Signals = this.#subject.stopSignal): number {
    const atMs = performance.now();
    this.t0Ms ??= atMs;
    this.#child.kill(name);
    return atMs;
  }

  /** The first line that matches, heard already or to come; null when the copy ended or the time is over. */
  async line(pattern: RegExp, timeoutMs = 5000): Promise<Line | null> {
    const deadlineMs = performance.now() + timeoutMs;
    for (;;) {
      const found = this.#heard.find((line) => pattern.test(line.text));
      const leftMs = deadlineMs - performance.now();
      if (found !== undefined || this.#exit !== null || leftMs <= 0) {
        return found ?? null;
      }
      // One change after the other.
      await this.#change(leftMs);
    }
  }

  address(door: "public" | "admin" = "public"): Address {
    return door === "admin"
      ? { kind: "tcp", port: this.adminPort ?? 0, tls: false }
      : { kind: "tcp", port: this.port, tls: this.#subject.tls };
  }

  /** Opens a connection; rejects with `Refused`. */
  open(options?: OpenOptions, door: "public" | "admin" = "public"): Promise<Wire> {
    return openWire(this.address(door), options);
  }

  /** One request on a connection of its own. A refused connection is an answer, too. */
  async ask(
    target: Target,
    door: "public" | "admin" = "public",
    timeoutMs = 5000,
  ): Promise<Answer & { wire: Wire | null }> {
    try {
      const wire = await this.open({}, door);
      wire.request(target, { headers: { Connection: "close" } });
      const answer = await wire.answer({ method: target.method, timeoutMs });
      wire.close();
      return { ...answer, wire };
    } catch (error) {
      if (!(error instanceof Refused)) {
        throw error;
      }
      const nothing = { status: null, headers: {}, body: "", headAtMs: null, wire: null };
      // A connection that is reset while it is being made is refused only where the kernel said so.
      return { ...nothing, ended: error.code === "ECONNREFUSED" ? "refused" : "reset", endAtMs: error.atMs };
    }
  }

  /** Stops listening to what it writes, as a log collector that has gone away. */
  closeStderr(): void {
    this.#child.stderr?.destroy();
  }

  /** Reads nothing from its stderr for this long, as a log collector that is behind. */
  async leaveStderr(ms: number): Promise<void> {
    this.#child.stderr?.pause();
    await pause(ms);
    this.#child.stderr?.resume();
  }

  /** Ends the whole process group, whatever it does. */
  async kill(): Promise<void> {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // Nobody is left in the group.
    }
    await this.exited;
    this.#subject.guardian?.release(this.pid);
  }

  #wake(): void {
    for (const wake of this.#waiting) {
      wake();
    }
  }

  #change(timeoutMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.#waiting.delete(wake);
        resolve();
      };
      const timer = setTimeout(wake, Math.max(1, timeoutMs));
      this.#waiting.add(wake);
    });
  }
}

/** A port that was free a moment ago, for a service that cannot say which one it chose. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === "object" && address !== null ? address.port : 0;
}

const START_TIMEOUT_MS = 20_000;

async function untilAnswered(subject: Subject, copy: Copy): Promise<void> {
  const route = subject.routes.ready ?? subject.routes.ordinary ?? "GET /";
  const [method = "GET", path = "/"] = route.split(" ");
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (copy.running && performance.now() < deadlineMs) {
    const answer = await copy.ask({ method, path: fill(path, { id: "start" }) });
    if (answer.status === 200) {
      return;
    }
    // The service says nothing by itself, so there is nothing else to wait for.
    await pause(20);
  }
  throw new StartFailed(`${subject.name} did not answer ${route} with 200 within 20 s.\n${copy.tail}`);
}

async function untilAnnounced(subject: Subject, copy: Copy): Promise<void> {
  const line = await copy.line(/^\{"listening":true/, START_TIMEOUT_MS);
  if (line === null) {
    throw new StartFailed(`${subject.name} did not announce itself within 20 s.\n${copy.tail}`);
  }
  const said = JSON.parse(line.text) as { port?: number; adminPort?: number };
  copy.port = said.port ?? 0;
  copy.adminPort = said.adminPort ?? copy.adminPort;
}

async function untilUp(subject: Subject, copy: Copy, plan: StartPlan): Promise<void> {
  if (plan.until === undefined) {
    return subject.announces ? untilAnnounced(subject, copy) : untilAnswered(subject, copy);
  }
  const line = await copy.line(plan.until, START_TIMEOUT_MS);
  if (line === null) {
    throw new StartFailed(`${subject.name} did not print ${String(plan.until)}.\n${copy.tail}`);
  }
}

/** Starts a copy and waits until it serves (or until the plan's line). It leads a process group of its own. */
export async function startCopy(
  subject: Subject,
  plan: StartPlan,
  started: (copy: Copy) => void,
): Promise<Copy> {
  const port = subject.announces ? 0 : await freePort();
  const env: Record<string, string | undefined> = { ...process.env, ...subject.env, PORT: String(port) };
  // The test runner's own variables must not reach the service.
  delete env["NODE_TEST_CONTEXT"];
  for (const [setting, value] of Object.entries(plan.set ?? {})) {
    const way = subject.settings[setting as Setting];
    if (way !== undefined) {
      env[way.env] = writeSetting(way, value);
    }
  }
  let adminPort: number | null = null;
  if (plan.admin === true && subject.adminPort !== undefined) {
    adminPort = await freePort();
    env[subject.adminPort.env] = String(adminPort);
  }
  if (plan.unixSocket !== undefined && subject.unixSocket !== undefined) {
    env[subject.unixSocket.env] = plan.unixSocket;
  }
  Object.assign(env, plan.mode, plan.env);
  const [command = "", ...args] = subject.command.map((part) => fill(part, { port }));
  const inherited = plan.inherit === undefined ? [] : [plan.inherit];
  const child = spawn(command, args, {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", ...inherited],
  });
  const copy = new Copy(subject, child);
  if (child.pid !== undefined) {
    subject.guardian?.watch(child.pid);
  }
  copy.port = port;
  copy.adminPort = adminPort;
  started(copy);
  const failure = new Promise<never>((_resolve, reject) => {
    child.once("error", (error) =>
      reject(new StartFailed(`${subject.name} could not be started: ${error.message}`)),
    );
  });
  await Promise.race([untilUp(subject, copy, plan), failure]);
  return copy;
}
