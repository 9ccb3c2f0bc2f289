/** A router as a child of the lab: in a process group of its own, its last words kept, ended with the lab. */

import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { LabError } from "../errors.ts";
import type { Guardian } from "../target/guardian.ts";

const STOP_TIMEOUT_MS = 3000;
const KEPT_LINES = 20;
const POLL_MS = 5;

export interface RouterChild {
  /** How it ended, in words; null while it runs. */
  exit(): string | null;
  kill(signal: NodeJS.Signals): void;
  /** A `LAB_ROUTER_FAILED` with its last lines. */
  failed(what: string): LabError;
  /** Asks again and again until it is so; throws `failed` when the child ends, or when it takes too long. */
  until(isSo: () => Promise<boolean>, timeoutMs: number, what: string): Promise<void>;
  /** SIGTERM, and SIGKILL for what is left after three seconds. */
  stop(): Promise<void>;
}

export interface RouterChildSpec {
  readonly program: string;
  readonly args: readonly string[];
  readonly version: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** Where its standard output goes: a file descriptor; nowhere by default. */
  readonly stdout?: number;
  /** Each line of its standard error. */
  readonly onLine: (line: string) => void;
}

export function startRouterChild(spec: RouterChildSpec, guardian: Guardian): RouterChild {
  const lastLines: string[] = [];
  let exit: string | null = null;
  const child = spawn(spec.program, spec.args, {
    detached: true,
    stdio: ["ignore", spec.stdout ?? "ignore", "pipe"],
    ...(spec.env === undefined ? {} : { env: spec.env }),
  });
  const { pid } = child;
  const ended = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      exit = signal ?? `exit code ${code ?? 0}`;
      if (pid !== undefined) {
        guardian.release(pid);
      }
      resolve();
    });
    child.once("error", (error) => {
      exit = error.message;
      resolve();
    });
  });
  if (pid !== undefined) {
    guardian.watch(pid);
  }
  const { stderr } = child;
  if (stderr !== null) {
    createInterface({ input: stderr }).on("line", (text) => {
      lastLines.push(text);
      lastLines.splice(0, lastLines.length - KEPT_LINES);
      spec.onLine(text);
    });
  }
  const failed = (what: string): LabError =>
    new LabError(
      "LAB_ROUTER_FAILED",
      `${spec.version} ${what}. Its last lines:\n${lastLines.map((line) => `    ${line}`).join("\n")}`,
      "Read its words above, or use --router embedded.",
    );
  return {
    exit: () => exit,
    kill: (signal) => void child.kill(signal),
    failed,
    until: async (isSo, timeoutMs, what) => {
      const deadlineMs = performance.now() + timeoutMs;
      for (;;) {
        // A poll is one question after the other.
        const so = exit === null && (await isSo());
        if (exit !== null) {
          throw failed(`ended (${exit})`);
        }
        if (so) {
          return;
        }
        if (performance.now() > deadlineMs) {
          throw failed(`${what} within ${timeoutMs / 1000} s`);
        }
        await sleep(POLL_MS);
      }
    },
    stop: async () => {
      if (exit === null) {
        child.kill("SIGTERM");
        await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      }
      if (pid !== undefined) {
        guardian.release(pid);
      }
      await ended;
    },
  };
}
