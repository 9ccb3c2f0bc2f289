/**
 * Auto mode: a lifecycle for an app that knows nothing of it. Until the first stop signal it only listens for servers;
 * then it holds what the app would do by itself until doing it can cut nothing.
 */

import { Server as HttpServer, type ServerResponse } from "node:http";
import { Server } from "node:net";
import { discoverServers } from "./auto-discovery.ts";
import { readAutoOptions, type AutoOptions } from "./auto-options.ts";
import { denyReadiness, noteProbes } from "./auto-probes.ts";
import { createLifecycle } from "./create.ts";
import { LastcallError } from "./errors.ts";
import { ForeignHandlers } from "./foreign.ts";
import type { Host, StopRequest } from "./host.ts";
import { useActivatedSockets } from "./inherited-sockets.ts";
import type { Lifecycle } from "./life.ts";
import { reusePortProblem } from "./platform/reuse-port.ts";
import { isStarter } from "./platform/wrapper.ts";
import {
  ADMIN_SERVER,
  AUTO_KEY,
  LIFECYCLE_KEY,
  TAKEOVER_KEY,
  type AutoMode,
  type Registered,
} from "./registry.ts";
import { isDrainable } from "./servers/attach.ts";
import { holdClose } from "./servers/held-close.ts";
import type { ListenOptions } from "./servers/listen-channel.ts";
import { TAKEOVER_VARIABLE } from "./takeover/messages.ts";
import { VERSION } from "./version.ts";

/**
 * Does nothing in package managers and `lastcall-takeover`, which inherit NODE_OPTIONS like everybody else, and when it is there already.
 */
export function startAuto(host: Host): void {
  const { workerThread, program } = host.facts;
  if (isStarter(program) || host.registry[AUTO_KEY] !== undefined) {
    return;
  }
  if (host.facts.runtime === "bun") {
    refuseBun(host);
    return;
  }
  const options = readAutoOptions(host);
  if (workerThread) {
    // The main thread has said what is wrong with them.
    host.registry[AUTO_KEY] = new Auto(host, options);
    return;
  }
  options.problems.forEach((problem) => host.writeLine(`lastcall: ${problem}`));
  if (options.problems.length > 0) {
    if (options.strict) {
      host.writeLine("lastcall: LASTCALL_STRICT is 1, so the app is not started.");
      host.exit(1);
      return;
    }
    host.writeLine("lastcall: the defaults are used instead; LASTCALL_STRICT=1 would refuse to start.");
  }
  host.registry[AUTO_KEY] = new Auto(host, options);
  if (host.registry[TAKEOVER_KEY] === undefined && host.env[TAKEOVER_VARIABLE] === undefined) {
    useActivatedSockets(host);
  }
}

/** Nothing is held, so the app runs and stops as it would without us. */
function refuseBun(host: Host): void {
  const error = new LastcallError(
    "LASTCALL_RUNTIME",
    "lastcall/auto does nothing under Bun, which announces no server that begins to listen.",
  );
  host.writeLine(`lastcall: warning: ${error.message}`);
  if (host.env["LASTCALL_STRICT"] === "1") {
    host.writeLine("lastcall: LASTCALL_STRICT is 1, so the app is not started.");
    host.exit(1);
  }
}

class Auto implements AutoMode {
  readonly version: string = VERSION;
  readonly #host: Host;
  readonly #options: AutoOptions;
  readonly #foreign: ForeignHandlers;
  readonly #seen = new Set<Server>();
  /** The HTTP servers, whose own close is held during a stop. */
  readonly #http = new Set<HttpServer>();
  readonly #closeLast = new Set<Server>();
  readonly #streams = new WeakSet<ServerResponse>();
  #life: Lifecycle | null = null;
  #own: Lifecycle | null = null;
  #stopping = false;
  #denied = false;
  /** A lifecycle of another major owns the process. */
  #refused = false;

  constructor(host: Host, options: AutoOptions) {
    this.#host = host;
    this.#options = options;
    this.#foreign = new ForeignHandlers(host, (line) => this.#say(line));
    if (!host.facts.workerThread) {
      const signals = this.#signals();
      // So that the signal is caught from the first line of the program on (G2).
      signals.forEach((signal) => host.onSignal(signal, () => {}));
      host.interceptStops(signals, (stop) => this.#heard(stop));
      host.watchThreads();
    }
    discoverServers({
      found: (server, listen) => this.#found(server, listen),
      listening: (server) => this.#listening(server),
    });
  }

  foreign(): readonly string[] {
    if (this.#options.foreign === "defer") {
      return this.#foreign.describe();
    }
    return this.#signals().flatMap((signal) =>
      this.#host.foreignListeners(signal).map(({ name }) => `${signal}: ${name}, not held`),
    );
  }

  exitCode(): number | null {
    return this.#foreign.exitCode;
  }

  shutdownAsked(): void {
    this.#foreign.shutdownAsked();
  }

  own(): Lifecycle | null {
    return this.#own;
  }

  /** True: the app's own listeners do not hear it now. */
  #heard(stop: StopRequest): boolean {
    if (this.#join() === null) {
      return false;
    }
    this.#foreign.heard(stop);
    return this.#options.foreign === "defer";
  }

  #found(server: Server, listen: ListenOptions | undefined): void {
    if (this.#seen.has(server) || isAdmin(server)) {
      return;
    }
    this.#seen.add(server);
    const life = this.#join();
    if (life === null) {
      return;
    }
    const problem = reusePortProblem(listen, this.#host.facts);
    if (problem !== null) {
      this.#refuse(problem);
    }
    const port = listen?.port === undefined ? undefined : Number(listen.port);
    if (isDrainable(server)) {
      this.#http.add(server as HttpServer);
    }
    if (port !== undefined && this.#options.closeLastPorts.has(port)) {
      this.#closeLast.add(server);
      return;
    }
    if (isDrainable(server)) {
      const paths = this.#options.probePaths;
      if (paths !== null) {
        const { noteProbe } = this.#host.registry[LIFECYCLE_KEY] as Registered;
        noteProbes(server as HttpServer, paths, (request, probe) => noteProbe?.(request, probe));
      }
      life.http(server);
      return;
    }
    life.onTeardown(`server ${describeAddress(server, port)}`, () => {
      Server.prototype.close.call(server);
    });
  }

  #listening(server: Server): void {
    // An app that makes its own lifecycle says itself when it is ready.
    if (this.#http.has(server as HttpServer) && !this.#closeLast.has(server)) {
      this.#own?.ready();
    }
  }

  /** The lifecycle of the process: the app's own if it has made one, else ours. */
  #join(): Lifecycle | null {
    if (this.#life !== null || this.#refused) {
      return this.#life;
    }
    const explicit = this.#host.registry[LIFECYCLE_KEY] as Registered | undefined;
    const host = this.#ownHost();
    try {
      if (explicit === undefined) {
        this.#own = createLifecycle({}, host);
        this.#life = this.#own;
      } else {
        requireSameMajor(explicit);
        this.#life = explicit.life;
      }
    } catch (error) {
      if (this.#options.strict) {
        throw error;
      }
      this.#refused = true;
      this.#say(`warning: auto mode stays out: ${error instanceof Error ? error.message : String(error)}`);
      return null;
    }
    const life = this.#life;
    if (this.#options.closeLastPorts.size > 0) {
      // Registered first, so that it runs last.
      life.onTeardown("servers that close last", () => this.#closeLast.forEach(closeNow));
    }
    life.events.on("state", ({ to }) => {
      if (to !== "serving") {
        this.#stop(life);
      }
      if (to === "draining") {
        this.#denyReadiness();
        this.#endEventStreams(life);
      }
    });
    return life;
  }

  /** t0. */
  #stop(life: Lifecycle): void {
    if (this.#stopping) {
      return;
    }
    this.#stopping = true;
    this.#endEventStreams(life);
    if (this.#options.env["LASTCALL_READINESS_IN_LAME_DUCK"] !== "keep") {
      this.#denyReadiness();
    }
    if (this.#options.foreign === "run") {
      return;
    }
    this.#foreign.holdExit();
    const { onGateClosed } = this.#host.registry[LIFECYCLE_KEY] as Registered;
    onGateClosed?.(() => this.#foreign.call());
    const letGo = [...this.#http].map(holdClose);
    life.onTeardown("the app's own stop handlers", (context) => {
      this.#foreign.call();
      letGo.forEach((release) => release());
      return this.#foreign.wait(context);
    });
  }

  /** Once: at the signal, or at the gate for a load balancer that wants it so. */
  #denyReadiness(): void {
    const ready = this.#options.probePaths?.ready;
    if (ready !== undefined && !this.#denied) {
      this.#denied = true;
      this.#http.forEach((server) => denyReadiness(server, ready));
    }
  }

  /** Asked at the signal and at the gate. They never end by themselves, and their clients come back, elsewhere. What the app still writes then is nobody's fault. */
  #endEventStreams(life: Lifecycle): void {
    const { eventStreams } = this.#host.registry[LIFECYCLE_KEY] as Registered;
    for (const response of eventStreams?.() ?? []) {
      if (!this.#streams.has(response)) {
        this.#streams.add(response);
        response.on("error", () => {});
        life.stream(response, "end-at-drain");
      }
    }
  }

  /** What a lifecycle may not do to an app that did not ask for one. */
  #ownHost(): Host {
    const host = this.#host;
    let endsByItself = false;
    return {
      ...host,
      env: this.#options.env,
      onEmptyLoop: (run) =>
        host.onEmptyLoop(() => {
          // An app that ends by itself ends as it would without us.
          if (this.#stopping) {
            run();
          } else {
            endsByItself = true;
          }
        }),
      onExit: (run) =>
        host.onExit((code, stack) => {
          if (!endsByItself) {
            run(code, stack);
          }
        }),
      fail: (error) => this.#refuse(error),
    };
  }

  /** What cannot be had is said, and does not keep an app from running that knows nothing of us. */
  #refuse(error: Error): void {
    if (this.#options.strict) {
      this.#host.fail(error);
    }
    this.#say(`warning: ${error.message}`);
  }

  #signals(): readonly NodeJS.Signals[] {
    const named = this.#options.env["LASTCALL_SIGNALS"];
    if (named) {
      return named.split(",").map((signal) => signal.trim() as NodeJS.Signals);
    }
    return this.#host.facts.windows ? ["SIGTERM", "SIGINT", "SIGBREAK"] : ["SIGTERM", "SIGINT"];
  }

  #say(line: string): void {
    if (this.#options.env["LASTCALL_LOG"] !== "none") {
      this.#host.writeLine(`lastcall: ${line}`);
    }
  }
}

function requireSameMajor({ version }: Registered): void {
  const major = (text: string): string => text.split(".", 1)[0] ?? "";
  if (major(version) !== major(VERSION)) {
    throw new LastcallError(
      "LASTCALL_VERSIONS",
      `This process has a lifecycle of lastcall ${version}; lastcall/auto is ${VERSION}.`,
    );
  }
}

function isAdmin(server: Server): boolean {
  return (server as { [ADMIN_SERVER]?: boolean })[ADMIN_SERVER] === true;
}

function closeNow(server: Server): void {
  Server.prototype.close.call(server);
  if (isDrainable(server)) {
    HttpServer.prototype.closeAllConnections.call(server as HttpServer);
  }
}

function describeAddress(server: Server, port: number | undefined): string {
  const address = server.address();
  return typeof address === "string" ? address : `on port ${address?.port ?? port ?? "?"}`;
}
