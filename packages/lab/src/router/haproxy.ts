/**
 * HAProxy as a child of the lab. Servers come and go by its runtime socket, as a control plane does it, or are taken out by
 * its own health checks; it is never reloaded.
 */

import { closeSync, openSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RouterLine, RouterLogRecord } from "../ledger/records.ts";
import { startRouterChild } from "./child.ts";
import { addCommands, haproxyConfig, isLayer4, removeCommands, serverName } from "./haproxy-config.ts";
import { readHaproxyLog, type HaproxyLog } from "./haproxy-log.ts";
import { isWorthKeeping, logPieces } from "./log-pieces.ts";
import { socketPlace } from "./socket-folder.ts";
import type { FoundRouter, Router, RouterContext, RouterOptions, Upstream } from "./router.ts";

const START_TIMEOUT_MS = 10_000;
const ASK_TIMEOUT_MS = 10_000;
/** A line is written a moment after the answer that it belongs to. */
const LOG_SETTLES_MS = 50;

/** What the runtime socket answers to the commands; null when nobody is there. */
function askSocket(socket: string, commands: readonly string[]): Promise<string | null> {
  return new Promise((resolve) => {
    let text = "";
    const connection = connect(socket, () => void connection.end(`${commands.join("; ")}\n`));
    connection.setTimeout(ASK_TIMEOUT_MS, () => void connection.destroy(new Error("timeout")));
    connection.setEncoding("utf8").on("data", (part: string) => (text += part));
    connection.once("end", () => resolve(text));
    connection.once("error", () => resolve(null));
  });
}

/** What an answer may say when all is well. */
const FINE = /^(?:New server registered\.|Server deleted\.|\s*)$/;

export async function startHaproxy(
  found: FoundRouter,
  options: RouterOptions,
  upstreams: readonly Upstream[],
  context: RouterContext,
): Promise<Router> {
  const { clock, guardian } = context;
  const port = options.port === 0 ? await context.findPort() : options.port;
  const folder = path.resolve(options.folder);
  await mkdir(folder, { recursive: true });
  const { socket, clean } = socketPlace(folder);
  const config = path.join(folder, "haproxy.cfg");
  const accessFile = path.join(folder, "access.log");
  await writeFile(config, haproxyConfig({ options, port, socket }));
  const zeroMs = Date.now() - clock.now();
  /** Every server that HAProxy knows, by its name; it forgets none. */
  const known = new Map<string, Upstream>();
  let listed: readonly Upstream[] = [];

  const onLine = (text: string): void => {
    // Its own words on a health check: `Server copies/127.0.0.1:9001 is DOWN, reason: Layer7 wrong status, code: 503, ...`.
    const said = /Server \w+\/(\S+) is (DOWN|UP), reason: ([^,]*(?:, code: \d+)?)/.exec(text);
    const upstream = known.get(said?.[1] ?? "");
    if (said !== null && upstream !== undefined && options.removal === "readiness") {
      context.emit({
        kind: "event",
        atMs: clock.now(),
        source: "router",
        copy: upstream.copy,
        event: said[2] === "DOWN" ? "removed" : "added",
        detail: { port: upstream.port, by: said[3] ?? "health check" },
      });
    }
  };
  const access = openSync(accessFile, "a");
  const child = startRouterChild(
    { program: found.program, args: ["-db", "-f", config], version: found.version, stdout: access, onLine },
    guardian,
  );
  closeSync(access);

  const ask = async (commands: readonly string[]): Promise<void> => {
    for (const command of commands) {
      // One after the other: each depends on the one before, and the answer names no command.
      const answer = await askSocket(socket, [command]);
      if (answer === null || !FINE.test(answer.trim())) {
        throw child.failed(`said to '${command}': ${answer?.trim() ?? "nothing"}`);
      }
    }
  };
  const change = async (next: readonly Upstream[]): Promise<void> => {
    const stays = new Set(next.map(serverName));
    const had = new Set(listed.map(serverName));
    // In first: a moment without any server would lose requests that no restart has lost.
    for (const upstream of next) {
      const name = serverName(upstream);
      if (!had.has(name)) {
        await ask(addCommands(options, upstream, known.has(name)));
        known.set(name, upstream);
      }
    }
    for (const upstream of listed) {
      if (!stays.has(serverName(upstream))) {
        await ask(removeCommands(options, upstream));
      }
    }
    listed = next;
  };

  try {
    await child.until(
      async () => (await askSocket(socket, ["show info"])) !== null,
      START_TIMEOUT_MS,
      "did not answer on its runtime socket",
    );
    await change(upstreams);
  } catch (error) {
    await child.stop();
    clean();
    throw error;
  }

  let last: Promise<void> = Promise.resolve();
  const readLog = async (asked: (id: string) => boolean): Promise<HaproxyLog> => {
    if (child.exit() === null) {
      await askSocket(socket, ["show info"]);
      await sleep(LOG_SETTLES_MS);
    }
    const byId = new Map<string, RouterLine>();
    const failures: RouterLogRecord[] = [];
    for await (const text of logPieces(accessFile)) {
      const part = readHaproxyLog(text, zeroMs);
      failures.push(...part.failures);
      for (const [id, line] of part.byId) {
        if (isWorthKeeping(line, id, asked)) {
          byId.set(id, line);
        }
      }
    }
    return { byId, failures };
  };
  return {
    name: "haproxy",
    version: isLayer4(options) ? `${found.version} (layer 4)` : found.version,
    port,
    set: (wanted) => {
      last = last.then(() => change(wanted));
      return last;
    },
    log: async () => (await readLog(() => false)).failures,
    accessLog: async (asked) => (isLayer4(options) ? null : (await readLog(asked)).byId),
    stop: async () => {
      await child.stop();
      clean();
    },
  };
}
