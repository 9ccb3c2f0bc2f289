/**
 * nginx as a child of the lab: unprivileged, with a folder of its own. Its upstreams are rewritten and reloaded with
 * SIGHUP, which is what every controller in front of nginx does, with all that a reload costs.
 */

import { execFile, spawn } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { setImmediate as immediate, setTimeout as sleep } from "node:timers/promises";
import { promisify } from "node:util";
import { LabError } from "../errors.ts";
import type { RunClock } from "../ledger/clock.ts";
import type { EventRecord, RouterLogRecord } from "../ledger/records.ts";
import type { Guardian } from "../target/guardian.ts";
import { classifyLogLine } from "./log-class.ts";
import { GENERATION_PATH, nginxConfig } from "./nginx-config.ts";
import type { Router, RouterOptions, Upstream } from "./router.ts";

export interface RouterContext {
  readonly clock: RunClock;
  readonly guardian: Guardian;
  readonly emit: (event: EventRecord) => void;
  readonly findPort: () => Promise<number>;
}

const START_TIMEOUT_MS = 10_000;
const RELOAD_TIMEOUT_MS = 15_000;
const STOP_TIMEOUT_MS = 3000;
const KEPT_LINES = 20;

/** The program and `nginx 1.22.1`, or null where there is none. `LASTCALL_NGINX` names the one to use. */
export async function findNginx(
  env: Readonly<Record<string, string | undefined>>,
): Promise<{ readonly program: string; readonly version: string } | null> {
  const named = env["LASTCALL_NGINX"];
  if (named !== undefined && named !== "") {
    const version = await versionOf(named);
    return version === null ? null : { program: named, version };
  }
  // Debian puts it where a user's PATH does not look.
  const folders = [...(env["PATH"] ?? "").split(path.delimiter), "/usr/sbin", "/usr/local/sbin"];
  for (const folder of folders) {
    if (folder !== "") {
      const program = path.join(folder, "nginx");
      // The first that works; each try depends on the one before.
      const version = await versionOf(program);
      if (version !== null) {
        return { program, version };
      }
    }
  }
  return null;
}

async function versionOf(program: string): Promise<string | null> {
  try {
    const { stderr } = await promisify(execFile)(program, ["-v"], { timeout: 5000 });
    const version = /nginx\/([\d.]+)/.exec(stderr)?.[1];
    return version === undefined ? null : `nginx ${version}`;
  } catch {
    return null; // Not there, not executable, or something else by that name.
  }
}

/** The configuration that a new connection meets; null when nobody answers. */
function generationAt(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port, path: GENERATION_PATH, agent: false, timeout: 1000 },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.once("end", () => resolve(text));
        answer.once("error", () => resolve(null));
      },
    );
    asked.once("timeout", () => asked.destroy());
    asked.once("error", () => resolve(null));
    asked.end();
  });
}

export async function startNginx(
  found: { readonly program: string; readonly version: string },
  options: RouterOptions,
  upstreams: readonly Upstream[],
  context: RouterContext,
): Promise<Router> {
  const { clock, guardian } = context;
  const port = options.port === 0 ? await context.findPort() : options.port;
  const folder = path.resolve(options.folder);
  const records: RouterLogRecord[] = [];
  const lastLines: string[] = [];
  /** How many old workers have said that they take no more connections. */
  let retired = 0;
  let generation = 0;
  let exit: string | null = null;
  await mkdir(path.join(folder, "logs"), { recursive: true });

  const write = (set: readonly Upstream[]): Promise<void> =>
    writeFile(
      path.join(folder, "nginx.conf"),
      nginxConfig({
        options,
        port,
        upstreams: set,
        generation,
        root: process.getuid?.() === 0,
        platform: process.platform,
      }),
    );
  await write(upstreams);

  const child = spawn(found.program, ["-p", folder, "-c", "nginx.conf", "-e", "stderr"], {
    detached: true,
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise<void>((resolve) => {
    child.once("exit", (code, signal) => {
      exit = signal ?? `exit code ${code ?? 0}`;
      if (child.pid !== undefined) {
        guardian.release(child.pid);
      }
      resolve();
    });
    child.once("error", (error) => {
      exit = error.message;
      resolve();
    });
  });
  if (child.pid !== undefined) {
    guardian.watch(child.pid);
  }
  createInterface({ input: child.stderr }).on("line", (text) => {
    lastLines.push(text);
    lastLines.splice(0, lastLines.length - KEPT_LINES);
    if (text.includes("gracefully shutting down")) {
      retired += 1;
    }
    const kind = classifyLogLine(text);
    if (kind !== null) {
      records.push({ kind: "router-log", atMs: clock.now(), class: kind, text });
    }
  });

  const failed = (what: string, next: string): LabError =>
    new LabError(
      "LAB_ROUTER_FAILED",
      `${found.version} ${what}. Its last lines:\n${lastLines.map((line) => `    ${line}`).join("\n")}`,
      next,
    );
  /** Until new connections meet this generation and the worker before it has left its listening socket. */
  const serving = async (timeoutMs: number, retiredBefore: number | null): Promise<void> => {
    const deadlineMs = clock.now() + timeoutMs;
    for (;;) {
      if (exit !== null) {
        throw failed(`ended (${exit})`, "Read its words above, or use --router embedded.");
      }
      // A poll is one question after the other.
      const answer = await generationAt(port);
      if (answer === String(generation) && (retiredBefore === null || retired > retiredBefore)) {
        return;
      }
      if (clock.now() > deadlineMs) {
        throw failed(
          `did not serve its configuration ${generation} on 127.0.0.1:${port} within ${timeoutMs / 1000} s (${answer ?? "no answer"})`,
          "Read its words above, or use --router embedded.",
        );
      }
      await sleep(5);
    }
  };
  try {
    await serving(START_TIMEOUT_MS, null);
  } catch (error) {
    if (child.pid !== undefined) {
      guardian.release(child.pid);
    }
    throw error;
  }

  /** Reloads one after the other: nginx drops a SIGHUP that comes while it works on one. */
  let last: Promise<void> = Promise.resolve();
  const reload = async (set: readonly Upstream[]): Promise<void> => {
    generation += 1;
    const before = retired;
    await write(set);
    context.emit({
      kind: "event",
      atMs: clock.now(),
      source: "router",
      copy: null,
      event: "reloaded",
      detail: { generation, upstreams: set.map((one) => one.copy).join(" ") },
    });
    child.kill("SIGHUP");
    await serving(RELOAD_TIMEOUT_MS, before);
  };

  return {
    name: "nginx",
    version: found.version,
    port,
    set: (set) => {
      last = last.then(() => reload(set));
      return last;
    },
    log: async () => {
      // Lines reach us through a pipe, a moment after the answers that they belong to. What was written before this
      // question was answered is readable now, and read in the turn of the event loop that we let pass.
      await generationAt(port);
      await immediate();
      return [...records];
    },
    stop: async () => {
      if (exit === null) {
        child.kill("SIGTERM");
        await Promise.race([ended, sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
      }
      if (child.pid !== undefined) {
        guardian.release(child.pid);
      }
      await ended;
    },
  };
}
