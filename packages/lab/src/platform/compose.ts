/**
 * `--platform compose`: each copy is the service of a real compose file in a project of its own, stopped by Compose with
 * the file's own stop signal, init and stop_grace_period. What happens to it is read off the engine's events.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, isIPv4 } from "node:net";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { LabError } from "../errors.ts";
import type { EventRecord } from "../ledger/records.ts";
import type { Copy, CopyContext, CopyExit } from "../target/copy.ts";
import { probeUntil } from "../target/readiness.ts";
import { readCompose, type ComposeService } from "./compose-file.ts";
import {
  assertEngine,
  docker,
  followEvents,
  lastWords,
  runProgram,
  signalName,
  type DockerEvent,
} from "./docker.ts";
import type { CopyHost } from "./copy-host.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ComposeOptions {
  readonly file: string;
  readonly service: string | null;
  readonly containerPort: number | null;
  readonly readyPath: string;
  readonly readyTimeoutMs: number;
}

const PROBE_WHILE_STARTING_MS = 50;
const PROBE_WHILE_LEAVING_MS = 50;
const PROBE_WHILE_SERVING_MS = 1000;
/** How long an exit may take to reach us once Compose says that the container has stopped. */
const FORGOTTEN_AFTER_MS = 10_000;
const SIGKILL = "9";

/** `docker compose` where it is there, else `docker-compose`. */
async function findCompose(env: Environment): Promise<readonly [string, ...string[]]> {
  for (const candidate of [["docker", "compose"], ["docker-compose"]] as const) {
    const [program, ...first] = candidate;
    // The first that works.
    const seen = await runProgram(program, [...first, "version"], env);
    if (seen.code === 0) {
      return candidate;
    }
  }
  throw new LabError(
    "LAB_PLATFORM_MISSING",
    "Neither `docker compose` nor `docker-compose` was found.",
    "Install the compose plugin, or docker-compose.",
  );
}

/** Whether it is an address of this machine. A bridge to which nothing is joined yet is in no list of interfaces. */
function isOurs(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: address, port: 0 }, () => probe.close(() => resolve(true)));
  });
}

/**
 * The address at which the copies publish their ports. To 127.0.0.1 Docker's own proxy answers, which takes a connection
 * also when nobody listens behind it: a closed door would look like a cut. To the bridge's address the kernel forwards. It
 * is used where it is an address of this machine (a Linux engine), else 127.0.0.1.
 */
async function publishedHost(env: Environment): Promise<string> {
  const config = "{{range .IPAM.Config}}{{.Gateway}} {{.Subnet}}{{end}}";
  const told = await docker(env, "network", "inspect", "bridge", "--format", config);
  // An engine that chose the address itself may tell its network alone: it took the first one.
  const [, gateway, network] = /^(\S*) (\d+\.\d+\.\d+)\.\d+\//.exec(told) ?? [];
  const address = gateway === undefined || gateway === "" ? `${network ?? ""}.1` : gateway;
  return isIPv4(address) && (await isOurs(address)) ? address : "127.0.0.1";
}

class ComposeCopy implements Copy {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  pid = 0;
  readonly exited: Promise<CopyExit>;
  readonly signalled: Promise<void>;
  #signal: () => void = () => undefined;
  readonly #service: ComposeService;
  readonly #options: ComposeOptions;
  readonly #compose: (...args: readonly string[]) => Promise<string>;
  readonly #context: CopyContext;
  readonly #serving = new AbortController();
  #end: (exit: CopyExit) => void = () => undefined;
  #exit: CopyExit | null = null;
  #told = false;
  #killed = false;

  constructor(
    name: string,
    host: string,
    port: number,
    service: ComposeService,
    options: ComposeOptions,
    compose: (...args: readonly string[]) => Promise<string>,
    context: CopyContext,
  ) {
    this.name = name;
    this.host = host;
    this.port = port;
    this.#service = service;
    this.#options = options;
    this.#compose = compose;
    this.#context = context;
    this.signalled = new Promise((resolve) => (this.#signal = resolve));
    this.exited = new Promise((resolve) => (this.#end = resolve));
  }

  /** What the engine says of this copy's container. */
  see(event: DockerEvent): void {
    const { action, attributes, atMs } = event;
    if (action === "start") {
      this.#emit("started", { port: this.port }, atMs);
    } else if (action === "kill" && attributes["signal"] === SIGKILL && this.#told) {
      this.#killed = true;
      this.#emit(
        "killed",
        { signal: "SIGKILL", afterMs: this.#service.gracePeriodMs, reason: "grace period over" },
        atMs,
      );
    } else if (action === "kill") {
      this.#told = true;
      this.#killed = attributes["signal"] === SIGKILL;
      this.#emit("signal", { signal: signalName(attributes["signal"]) }, atMs);
      this.#signal();
    } else if (action === "die" && this.#exit === null) {
      const code = Number(attributes["exitCode"] ?? 0);
      this.#exit = this.#killed ? { code: null, signal: "SIGKILL", atMs } : { code, signal: null, atMs };
      this.#serving.abort();
      this.#signal(); // Whoever waits for it: there will be none.
      this.#emit("exited", { code: this.#exit.code, signal: this.#exit.signal, asked: this.#told }, atMs);
      this.#end(this.#exit);
    }
  }

  async ready(): Promise<void> {
    const { readyPath, readyTimeoutMs } = this.#options;
    const startedMs = this.#context.clock.now();
    const stop = AbortSignal.any([AbortSignal.timeout(readyTimeoutMs), this.#serving.signal]);
    let last: number | string = "nothing";
    const seen = await probeUntil(
      this.port,
      readyPath,
      PROBE_WHILE_STARTING_MS,
      (now) => (last = now) === 200,
      stop,
      this.host,
    );
    if (seen === 200) {
      this.#emit("ready", { afterMs: Math.round(this.#context.clock.now() - startedMs) });
      void probeUntil(
        this.port,
        readyPath,
        PROBE_WHILE_SERVING_MS,
        () => false,
        this.#serving.signal,
        this.host,
      );
      return;
    }
    const words = await this.#compose("logs", "--no-color", this.#service.name).catch(() => "");
    const tail = lastWords({ code: 0, out: words, err: "" });
    if (this.#exit !== null) {
      throw new LabError(
        "LAB_TARGET_DIED",
        `Copy ${this.name}'s container ended before it was ready (exit code ${this.#exit.code ?? "?"}). Its last lines:${tail}`,
        "Bring the service up by hand with docker compose up.",
      );
    }
    throw new LabError(
      "LAB_TARGET_NOT_READY",
      `Copy ${this.name} was not ready within ${readyTimeoutMs / 1000} s: GET ${readyPath} on its container's port ${this.#service.containerPort} gave ${last}. Its last lines:${tail}`,
      "Let it listen on 0.0.0.0 inside the container, name its readiness path with --ready or its port with --container-port.",
    );
  }

  /** Compose waits for the file's own grace period, whatever is asked here. */
  async stop(signal: NodeJS.Signals): Promise<CopyExit> {
    if (this.#exit !== null) {
      return this.#exit;
    }
    this.#serving.abort();
    const over = new AbortController();
    const watching = probeUntil(
      this.port,
      this.#options.readyPath,
      PROBE_WHILE_LEAVING_MS,
      (now) => now !== 200 && now !== "TIMEOUT",
      over.signal,
      this.host,
    ).then((seen) => {
      if (seen !== null) {
        this.#emit("not-ready", { seen });
      }
    });
    await (signal === "SIGKILL"
      ? this.#compose("kill", this.#service.name)
      : this.#compose("stop", this.#service.name));
    const exit = await Promise.race([
      this.exited,
      sleep(FORGOTTEN_AFTER_MS, null, { signal: over.signal }).catch(() => null),
    ]);
    over.abort();
    await watching;
    if (exit === null) {
      throw new LabError(
        "LAB_PLATFORM_LOST",
        `Compose says that copy ${this.name} has stopped, and the engine told of no exit within ${FORGOTTEN_AFTER_MS / 1000} s.`,
        "See docker ps -a and docker events; run again.",
      );
    }
    return exit;
  }

  exit(): CopyExit | null {
    return this.#exit;
  }

  tail(): readonly string[] {
    return [];
  }

  async end(): Promise<void> {
    this.#serving.abort();
    await this.#compose("down", "--timeout", "0", "--volumes", "--remove-orphans");
  }

  #emit(event: EventRecord["event"], detail: EventRecord["detail"], atMs = this.#context.clock.now()): void {
    this.#context.emit({ kind: "event", atMs, source: "target", copy: this.name, event, detail });
  }
}

/** Reads the file and finds the engine. Throws `LAB_PLATFORM_MISSING`, `LAB_PLATFORM_REFUSED`, `LAB_OPTION`. */
export async function openCompose(options: ComposeOptions, cwd: string, env: Environment): Promise<CopyHost> {
  await assertEngine(env);
  const [program, ...first] = await findCompose(env);
  const compose = async (...args: readonly string[]): Promise<string> => {
    const seen = await runProgram(program, [...first, ...args], env);
    if (seen.code !== 0) {
      throw new LabError(
        "LAB_PLATFORM_REFUSED",
        `${[program, ...first].join(" ")} ${args.filter((arg) => !arg.startsWith("/")).join(" ")} ended with exit code ${seen.code}.${lastWords(seen)}`,
        "Read its words above.",
      );
    }
    return seen.out;
  };
  const file = path.resolve(cwd, options.file);
  const service = readCompose(await compose("-f", file, "config"), options.service, options.containerPort);
  const host = await publishedHost(env);
  const prefix = `lastcall-${process.pid}-${Date.now().toString(36)}`;
  return {
    name: "compose",
    gracePeriodMs: service.gracePeriodMs,
    about: `${options.file}, service ${service.name}: ${service.stopSignal}${service.init ? ", init" : ""}`,
    startCopy: async (name, port, folder, context) => {
      const project = `${prefix}-${name.toLowerCase()}`;
      const own = path.join(folder, `compose-${name}.yaml`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(own, service.fileFor(host, port));
      const ofCopy = (...args: readonly string[]): Promise<string> =>
        compose("-p", project, "-f", own, ...args);
      const copy = new ComposeCopy(name, host, port, service, options, ofCopy, context);
      const following = followEvents(
        env,
        [
          "type=container",
          `label=com.docker.compose.project=${project}`,
          `label=com.docker.compose.service=${service.name}`,
        ],
        context.clock,
        context.guardian,
        (event) => copy.see(event),
      );
      try {
        await ofCopy("up", "-d", service.name);
        const id = (await ofCopy("ps", "-q", service.name)).trim();
        copy.pid = Number(await docker(env, "inspect", "--format", "{{.State.Pid}}", id));
      } catch (error) {
        following.close();
        await copy.end().catch(() => undefined); // What could not be started is what is told.
        throw error;
      }
      const end = copy.end.bind(copy);
      copy.end = async (): Promise<void> => {
        following.close();
        await end();
      };
      return copy;
    },
  };
}
