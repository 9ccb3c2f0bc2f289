/**
 * Auto mode once it has started: until the first stop signal it only listens for servers; then it holds what the app would do by
 * itself until doing it can cut nothing.
 */

import { Server as HttpServer, type ServerResponse } from "node:http";
import { Server } from "node:net";
import { discoverServers } from "./auto-discovery.ts";
import { quietHost } from "./auto-host.ts";
import type { AutoOptions } from "./auto-options.ts";
import { denyReadiness, noteProbes } from "./auto-probes.ts";
import { createLifecycle } from "./create.ts";
import { ForeignHandlers } from "./foreign.ts";
import type { Host, StopRequest } from "./host.ts";
import type { Lifecycle } from "./life.ts";
import { reusePortProblem } from "./platform/reuse-port.ts";
import { ADMIN_SERVER, assertSameMajor, LIFECYCLE_KEY, type AutoMode, type Registered } from "./registry.ts";
import { isDrainable } from "./servers/attach.ts";
import { holdClose } from "./servers/held-close.ts";
import type { ListenOptions } from "./servers/listen-channel.ts";
import { stopSignals } from "./signals.ts";
import { VERSION } from "./version.ts";

/** As the record names them. */
const HANDLERS = "the app's own stop handlers";

export class Auto implements AutoMode {
  readonly version: string = VERSION;
  readonly #host: Host;
  readonly #options: AutoOptions;
  readonly #signals: readonly NodeJS.Signals[];
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
    this.#signals = stopSignals(options.life.signals, host.facts);
    this.#foreign = new ForeignHandlers(host, (line) => this.#say(line));
    if (!host.facts.workerThread) {
      // So that the signal is caught from the first line of the program on (G2).
      this.#signals.forEach((signal) => host.onSignal(signal, () => {}));
      host.interceptStops(this.#signals, (stop) => this.#heard(stop));
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
    return this.#signals.flatMap((signal) =>
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
      const { probePaths: paths } = this.#options.life;
      if (paths !== undefined) {
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
    try {
      if (explicit === undefined) {
        this.#own = createLifecycle({}, this.#quietHost());
        this.#life = this.#own;
      } else {
        assertSameMajor(explicit, "lastcall/auto is");
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
    if (this.#options.life.readinessInLameDuck !== "keep") {
      this.#denyReadiness();
    }
    if (this.#options.foreign === "run") {
      return;
    }
    this.#foreign.holdExit();
    const { onGateClosed, onDrained } = this.#host.registry[LIFECYCLE_KEY] as Registered;
    onGateClosed?.(() => this.#foreign.call());
    const letGo = [...this.#http].map(holdClose);
    const call = (): void => {
      this.#foreign.call();
      for (const release of letGo.splice(0)) {
        release().forEach((result) => this.#foreign.alsoPromised(result));
      }
    };
    onDrained?.(() => {
      call();
      if (this.#foreign.isPromising) {
        // What it waits for is work of the app, a job of a queue say, and has the time that work has.
        void life.task(HANDLERS, () => this.#foreign.promised());
      }
    });
    life.onTeardown(HANDLERS, (context) => {
      call();
      return this.#foreign.wait(context);
    });
  }

  /** Once: at the signal, or at the gate for a load balancer that wants it so. */
  #denyReadiness(): void {
    const ready = this.#options.life.probePaths?.ready;
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

  #quietHost(): Host {
    return quietHost(this.#host, {
      env: this.#options.env,
      isStopping: () => this.#stopping,
      refuse: (error) => this.#refuse(error),
    });
  }

  /** What cannot be had is said, and does not keep an app from running that knows nothing of us. */
  #refuse(error: Error): void {
    if (this.#options.strict) {
      this.#host.fail(error);
    }
    this.#say(`warning: ${error.message}`);
  }

  #say(line: string): void {
    if (this.#options.life.log !== "none") {
      this.#host.writeLine(`lastcall: ${line}`);
    }
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
