/**
 * Caddy as a child of the lab. Its admin API takes a whole configuration and changes to it in the process, old connections
 * finishing where they are; or its own active health checks take a copy out.
 */

import { mkdir, writeFile } from "node:fs/promises";
import { request } from "node:http";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { RouterLogRecord } from "../ledger/records.ts";
import { caddyConfig } from "./caddy-config.ts";
import { classifyLine, createCaddyReader, parseLine, wordsOf, type CaddyLog } from "./caddy-log.ts";
import { startRouterChild } from "./child.ts";
import { generationAt } from "./generation.ts";
import { logPieces } from "./log-pieces.ts";
import { socketPlace } from "./socket-folder.ts";
import type { FoundRouter, Router, RouterContext, RouterOptions, Upstream } from "./router.ts";

const START_TIMEOUT_MS = 15_000;
const CHANGE_TIMEOUT_MS = 15_000;
/** A line is written a moment after the answer that it belongs to. */
const LOG_SETTLES_MS = 50;

interface Answer {
  readonly status: number;
  readonly text: string;
}

/** Rejects when nobody is there. */
function post(socketPath: string, body: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = request(
      {
        socketPath,
        path: "/load",
        method: "POST",
        headers: { "content-type": "application/json", "content-length": Buffer.byteLength(body) },
      },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.once("end", () => resolve({ status: answer.statusCode ?? 0, text }));
        answer.once("error", reject);
      },
    );
    asked.once("error", reject);
    asked.end(body);
  });
}

export async function startCaddy(
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
  const accessFile = path.join(folder, "access.log");
  const triesFile = path.join(folder, "tries.log");
  const configFile = path.join(folder, "caddy.json");
  const minor = Number(/\.(\d+)/.exec(found.version)?.[1] ?? 0);
  const zeroMs = Date.now() - clock.now();
  const records: RouterLogRecord[] = [];
  let listed = upstreams;
  let generation = 0;
  /** How many old configurations have stopped to take connections. */
  let retired = 0;

  const config = (): string =>
    caddyConfig({ options, port, upstreams: listed, generation, socket, accessFile, triesFile, minor });
  const onLine = (text: string): void => {
    const line = parseLine(text);
    if (line === null) {
      return;
    }
    if (line.msg?.startsWith("servers shutting down") === true) {
      retired += 1;
    }
    const kind = classifyLine(line);
    if (kind !== null) {
      records.push({
        kind: "router-log",
        atMs: clock.now(),
        class: kind,
        text: wordsOf(line, line.error ?? ""),
      });
    }
    tellHealth(line);
  };
  const down = new Set<string>();
  function tellHealth({ logger, msg, host, upstream }: ReturnType<typeof parseLine> & object): void {
    const address = (host ?? upstream ?? "").replace(/^https?:\/\//, "");
    const copy = listed.find((one) => `${one.host}:${one.port}` === address);
    if (logger !== "http.handlers.reverse_proxy.health_checker.active" || copy === undefined) {
      return;
    }
    const isUp = msg === "host is up";
    if (isUp === down.has(address)) {
      down[isUp ? "delete" : "add"](address);
      context.emit({
        kind: "event",
        atMs: clock.now(),
        source: "router",
        copy: copy.copy,
        event: isUp ? "added" : "removed",
        detail: { port: copy.port, by: msg ?? "health check" },
      });
    }
  }

  await writeFile(configFile, config());
  const child = startRouterChild(
    {
      program: found.program,
      args: ["run", "--config", configFile],
      version: found.version,
      // It keeps certificates and state under them, none of which is ours.
      env: { PATH: process.env["PATH"], HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      onLine,
    },
    guardian,
  );
  try {
    await child.until(
      async () => (await generationAt(port)) === String(generation),
      START_TIMEOUT_MS,
      `did not answer on 127.0.0.1:${port}`,
    );
  } catch (error) {
    await child.stop();
    clean();
    throw error;
  }

  const change = async (next: readonly Upstream[]): Promise<void> => {
    listed = next;
    generation += 1;
    const before = retired;
    await writeFile(configFile, config());
    context.emit({
      kind: "event",
      atMs: clock.now(),
      source: "router",
      copy: null,
      event: "reloaded",
      detail: { generation, upstreams: next.map((one) => one.copy).join(" ") },
    });
    // The API answers when the old configuration's requests have ended; new connections follow much earlier.
    let refused: string | null = null;
    post(socket, config()).then(
      ({ status, text }) => {
        if (status !== 200) {
          refused = text;
        }
      },
      (error: Error) => {
        refused = error.message;
      },
    );
    await child.until(
      async () => {
        if (refused !== null) {
          throw child.failed(`refused its configuration ${generation}: ${refused}`);
        }
        return retired > before && (await generationAt(port)) === String(generation);
      },
      CHANGE_TIMEOUT_MS,
      `did not serve its configuration ${generation}`,
    );
  };

  let last: Promise<void> = Promise.resolve();
  const readLog = async (asked: (id: string) => boolean): Promise<CaddyLog> => {
    if (child.exit() === null) {
      await generationAt(port);
      await sleep(LOG_SETTLES_MS);
    }
    const reader = createCaddyReader(zeroMs, asked);
    for await (const text of logPieces(triesFile)) {
      reader.remarks(text);
    }
    for await (const text of logPieces(accessFile)) {
      reader.access(text);
    }
    return reader.log;
  };
  return {
    name: "caddy",
    version: found.version,
    port,
    set: (wanted) => {
      last = last.then(() => change(wanted));
      return last;
    },
    log: async () => [...records, ...(await readLog(() => false)).failures],
    accessLog: async (asked) => (await readLog(asked)).byId,
    stop: async () => {
      await child.stop();
      clean();
    },
  };
}
