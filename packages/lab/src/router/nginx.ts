/**
 * nginx as a child of the lab: unprivileged, with a folder of its own. Its upstreams are rewritten and reloaded with
 * SIGHUP, which is what every controller in front of nginx does, with all that a reload costs.
 */

import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { setImmediate as immediate } from "node:timers/promises";
import type { RouterLine, RouterLogRecord } from "../ledger/records.ts";
import { startRouterChild } from "./child.ts";
import { generationAt } from "./generation.ts";
import { classifyLogLine } from "./log-class.ts";
import { isWorthKeeping, logPieces } from "./log-pieces.ts";
import { readNginxAccess } from "./nginx-access.ts";
import { nginxConfig } from "./nginx-config.ts";
import type { FoundRouter, Router, RouterContext, RouterOptions, Upstream } from "./router.ts";

const START_TIMEOUT_MS = 10_000;
const RELOAD_TIMEOUT_MS = 15_000;

export async function startNginx(
  found: FoundRouter,
  options: RouterOptions,
  upstreams: readonly Upstream[],
  context: RouterContext,
): Promise<Router> {
  const { clock, guardian } = context;
  const port = options.port === 0 ? await context.findPort() : options.port;
  /** A port that speaks HTTP/2 without TLS speaks nothing else, so the lab asks at one beside it. */
  const askPort = options.http2 === undefined ? port : await context.findPort();
  const folder = path.resolve(options.folder);
  const zeroMs = Date.now() - clock.now();
  const records: RouterLogRecord[] = [];
  /** How many old workers have said that they take no more connections. */
  let retired = 0;
  let generation = 0;
  await mkdir(path.join(folder, "logs"), { recursive: true });

  const write = (set: readonly Upstream[]): Promise<void> =>
    writeFile(
      path.join(folder, "nginx.conf"),
      nginxConfig({
        options,
        port,
        askPort,
        upstreams: set,
        generation,
        root: process.getuid?.() === 0,
        platform: process.platform,
      }),
    );
  await write(upstreams);
  const onLine = (text: string): void => {
    if (text.includes("gracefully shutting down")) {
      retired += 1;
    }
    const kind = classifyLogLine(text);
    if (kind !== null) {
      records.push({ kind: "router-log", atMs: clock.now(), class: kind, text });
    }
  };
  const child = startRouterChild(
    {
      program: found.program,
      args: ["-p", folder, "-c", "nginx.conf", "-e", "stderr"],
      version: found.version,
      onLine,
    },
    guardian,
  );

  /** Until new connections meet this generation and the worker before it has left its listening socket. */
  const serving = (timeoutMs: number, retiredBefore: number | null): Promise<void> =>
    child.until(
      async () => {
        const answer = await generationAt(askPort);
        return answer === String(generation) && (retiredBefore === null || retired > retiredBefore);
      },
      timeoutMs,
      `did not serve its configuration ${generation} on 127.0.0.1:${port}`,
    );
  try {
    await serving(START_TIMEOUT_MS, null);
  } catch (error) {
    await child.stop();
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

  /** Lines come a moment after the answers that they belong to; those before this question have come with its answer. */
  const settle = async (): Promise<void> => {
    await generationAt(askPort);
    await immediate();
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
      await settle();
      return [...records];
    },
    accessLog: async (asked) => {
      await settle();
      const kept = new Map<string, RouterLine>();
      for await (const text of logPieces(path.join(folder, "access.log"))) {
        for (const [id, line] of readNginxAccess(text, zeroMs)) {
          if (isWorthKeeping(line, id, asked)) {
            kept.set(id, line);
          }
        }
      }
      return kept;
    },
    stop: () => child.stop(),
  };
}
