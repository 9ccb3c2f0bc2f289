/** One running copy of the service: started, signalled, listened to, and surely ended. */

import type { ChildProcess } from "node:child_process";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { lastWords } from "../target/last-words.ts";
import { Changes } from "./changes.ts";
import type { Http2Wire } from "./http2-wire.ts";
import { openHttp2, openWire } from "./open-wire.ts";
import type { Mode, Setting, Subject } from "./subject.ts";
import {
  type Address,
  type Answer,
  type OpenOptions,
  Refused,
  type RequestShape,
  type Target,
  type Wire,
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

/** `It left with exit code 1`, or `It was ended by SIGTERM`: a process has one or the other. */
export function exitInWords({ code, signal }: Pick<Exit, "code" | "signal">): string {
  return signal === null ? `It left with exit code ${String(code)}` : `It was ended by ${signal}`;
}

export type Http2Door = "h2c" | "h2" | "http2Port";

export interface StartPlan {
  readonly set?: Readonly<Partial<Record<Setting, number | string>>>;
  readonly mode?: Mode;
  /** Variables on top of all others. */
  readonly env?: Readonly<Record<string, string>>;
  /** A unix socket's path to listen on as well. */
  readonly unixSocket?: string;
  /** Open the admin port. */
  readonly admin?: boolean;
  /** It speaks HTTP/2, at this door: its port (h2c, or h2 over TLS) or a port of its own. */
  readonly speaks?: Http2Door;
  /** Return when this line has come instead of when the service serves. */
  readonly until?: RegExp;
  /** A listening socket to pass on as descriptor 3. */
  readonly inherit?: number;
  /** A program that runs the command as its child, which is then the one to be signalled. */
  readonly before?: readonly string[];
}

/** The copy did not come up; the code tells why. */
export class StartFailed extends Error {
  override readonly name = "StartFailed";
  readonly code: "LAB_TARGET_NOT_STARTED" | "LAB_TARGET_DIED" | "LAB_TARGET_NOT_READY" | "LAB_ROUTE_REFUSED";
  /** Of a service that has ended. */
  readonly exitCode: number | null;

  constructor(code: StartFailed["code"], message: string, exitCode: number | null = null) {
    super(message);
    this.code = code;
    this.exitCode = exitCode;
  }
}

/** How long after its exit the last lines of a process may be on their way. */
const LAST_OUTPUT_MS = 2000;

export class Copy {
  readonly #child: ChildProcess;
  readonly #subject: Subject;
  readonly #heard: Line[] = [];
  readonly #changes = new Changes();
  #exit: Exit | null = null;
  port = 0;
  adminPort: number | null = null;
  http2Port: number | null = null;
  /** Who gets the signals: the child itself, unless it only runs the service. */
  servicePid: number;
  /** When the first stop signal was sent, on `performance.now()`. */
  t0Ms: number | null = null;
  /** The exit, with everything that the process itself had written read. */
  readonly exited: Promise<Exit>;

  constructor(subject: Subject, child: ChildProcess) {
    this.#subject = subject;
    this.#child = child;
    this.servicePid = child.pid ?? 0;
    for (const from of ["stdout", "stderr"] as const) {
      let rest = "";
      child[from]?.setEncoding("utf8").on("data", (chunk: string) => {
        const lines = (rest + chunk).split("\n");
        rest = lines.pop() ?? "";
        const atMs = performance.now();
        this.#heard.push(...lines.map((text) => ({ atMs, from, text })));
        this.#changes.tell();
      });
    }
    this.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        const exit = { code, signal, atMs: performance.now() };
        this.#exit = exit;
        this.#changes.tell();
        // A process that it has left behind may hold its output open for ever.
        setTimeout(() => resolve(exit), LAST_OUTPUT_MS).unref();
      });
      child.once("error", () => {
        // It could not be started, so it will not exit either.
        this.#exit ??= { code: null, signal: null, atMs: performance.now() };
        this.#changes.tell();
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

  /** What it wrote last, for a person: the end of a sentence. */
  get tail(): string {
    return lastWords(this.#heard.map((line) => line.text));
  }

  /** To the main process, or to its whole group as a terminal and `KillMode=control-group` do. */
  signal(name: NodeJS.Signals = this.#subject.stopSignal, whom: "main" | "group" = "main"): number {
    const atMs = performance.now();
    this.t0Ms ??= atMs;
    if (whom === "main" && this.servicePid === this.pid) {
      this.#child.kill(name);
    } else if (this.running) {
      try {
        process.kill(whom === "main" ? this.servicePid : -this.pid, name);
      } catch {
        // It is ending, which the exit tells.
      }
    }
    return atMs;
  }

  /** The first line that matches, heard already or to come; null when the copy ended or the time is over. */
  line(pattern: RegExp, timeoutMs = 5000): Promise<Line | null> {
    return this.#changes.until(
      () => this.#heard.find((line) => pattern.test(line.text)) ?? null,
      timeoutMs,
      () => this.#exit !== null,
    );
  }

  openHttp2(door: Http2Door, delayMs?: number): Promise<Http2Wire> {
    const port = door === "http2Port" ? (this.http2Port ?? 0) : this.port;
    return openHttp2({ kind: "tcp", port, tls: door === "h2" }, delayMs);
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
    shape: RequestShape = {},
  ): Promise<Answer & { wire: Wire | null }> {
    try {
      const wire = await this.open({}, door);
      wire.request(target, { ...shape, headers: { ...shape.headers, Connection: "close" } });
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
    if (this.pid === 0) {
      // It was never started, and a signal to group 0 would be one to ourselves.
      return;
    }
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // Nobody is left in the group.
    }
    await this.exited;
    this.#subject.guardian?.release(this.pid);
  }
}
