/** All servers of the process as one drain: what was asked of the first is asked of one that joins late, too. */

import type { ServerResponse } from "node:http";
import type { Server as NetServer } from "node:net";
import type { Admission } from "../admission.ts";
import { CROWD } from "./crowd.ts";
import { LastcallError } from "../errors.ts";
import type { Host } from "../host.ts";
import { attachServer, isDrainable, type DrainableServer } from "./attach.ts";
import { exchangeOf, HttpExchange, ServedExchange } from "./http-exchange.ts";
import type { Closed } from "./listener.ts";
import type { ProbeHandler } from "./probe-handler.ts";
import type { ConnectionCounts, Cut, DrainedServer } from "./server.ts";
import { SPREAD_SHARE } from "./spread.ts";
import { isEventStream, Streams } from "./streams.ts";

export interface FleetHooks {
  readonly host: Host;
  readonly admission: Admission;
  readonly probes: ProbeHandler;
  /** Whether the app has taken the probe handler, to mount it somewhere. */
  areProbesTaken(): boolean;
  readonly spread: boolean;
  /** See `ServerHooks`. */
  announceWindowMs(): number;
  emptyingMs(): number;
  /** See `ServerHooks`. */
  onConnection(): void;
  /** The last connection of a server has closed, or the last listener. */
  onQuiet(): void;
}

export class Fleet {
  readonly streams: Streams;
  readonly #hooks: FleetHooks;
  readonly #servers = new Map<DrainableServer, DrainedServer>();
  #begun = false;
  #announced = false;
  #shut = false;
  #swept = false;
  /** Listeners that are about to be closed, and those that somebody may still be on the way to. */
  #closing = 0;
  #settling = 0;
  #someCame = false;
  #tellClosed: (someCame: boolean) => void = () => {};
  readonly #allClosed: Promise<boolean> = new Promise((resolve) => {
    this.#tellClosed = resolve;
  });

  constructor(hooks: FleetHooks) {
    this.#hooks = hooks;
    this.streams = new Streams(hooks.host);
  }

  /** Errors: LASTCALL_SERVER. */
  add(server: DrainableServer): void {
    if (this.#servers.has(server)) {
      return;
    }
    if (this.#hooks.host.facts.runtime === "bun") {
      throw new LastcallError(
        "LASTCALL_RUNTIME",
        "life.http() was given a server of Bun, whose connections cannot be followed. Everything else of the lifecycle works: stop the server in a teardown hook.",
      );
    }
    if (!isDrainable(server)) {
      throw new LastcallError("LASTCALL_SERVER", "life.http() was given something that is no HTTP server.");
    }
    const { probes, areProbesTaken, ...hooks } = this.#hooks;
    const drained = attachServer(server, {
      ...hooks,
      answerProbe: (request, response) => areProbesTaken() && probes(request, response),
    });
    this.#servers.set(server, drained);
    if (this.#begun) {
      drained.begin();
    }
    if (this.#announced) {
      drained.announce();
    }
    if (this.#shut) {
      this.#await(drained.shut());
    }
    if (this.#swept) {
      drained.sweep();
    }
  }

  has(server: NetServer): boolean {
    return this.#servers.has(server as DrainableServer);
  }

  /** Event streams that are open: they never end by themselves. */
  eventStreams(): readonly ServerResponse[] {
    return [...this.#hooks.admission.inFlight]
      .filter((exchange) => exchange instanceof HttpExchange)
      .map(({ response }) => response)
      .filter((response) => isEventStream(response));
  }

  /** A probe that came in by an attached server is no work. */
  noteProbe(request: Parameters<ProbeHandler>[0]): void {
    const exchange = exchangeOf(request);
    if (exchange !== undefined) {
      this.#hooks.admission.forget(exchange);
    }
  }

  begin(): void {
    this.#begun = true;
    this.#each((server) => server.begin());
  }

  announce(): void {
    this.#announced = true;
    this.#each((server) => server.announce());
    this.streams.drain(this.#hooks.spread ? this.#hooks.announceWindowMs() * SPREAD_SHARE : 0);
  }

  /**
   * Closes every listener, then announces to whom was not told before. Resolves when all are closed, with whether somebody came
   * meanwhile; never rejects.
   */
  shut(): Promise<boolean> {
    if (!this.#shut) {
      this.#shut = true;
      // With no server at all the news comes later too, like any other.
      this.#await(Promise.resolve({ someCame: false, settled: Promise.resolve() }));
      this.#each((server) => this.#await(server.shut()));
    }
    return this.#allClosed;
  }

  #await(shut: Promise<Closed>): void {
    this.#closing += 1;
    this.#settling += 1;
    void shut.then(async ({ someCame, settled }) => {
      this.#someCame ||= someCame;
      this.#closing -= 1;
      if (this.#closing === 0) {
        this.announce();
        this.streams.gate();
        this.#tellClosed(this.#someCame);
      }
      await settled;
      this.#settling -= 1;
      if (this.#settling === 0) {
        this.#hooks.onQuiet();
      }
    });
  }

  get listeners(): "open" | "closing" | "closed" {
    return !this.#shut ? "open" : this.#settling > 0 ? "closing" : "closed";
  }

  /** The linger window is over. */
  sweep(): void {
    this.#swept = true;
    this.#each((server) => server.sweep());
  }

  /** Tells those who asked for a signal that the deadline is near. */
  abort(reason: string): void {
    for (const exchange of this.#hooks.admission.inFlight) {
      if (exchange instanceof ServedExchange) {
        exchange.abort(reason);
      }
    }
    this.streams.deadline();
  }

  cut(): readonly Cut[] {
    void this.shut();
    return [...this.#servers.values()].flatMap((server) => server.cut());
  }

  connections(): number {
    return [...this.#servers.values()].reduce((sum, server) => sum + server.connections(), 0);
  }

  /** Whether all that is open is a crowd of idle connections. */
  isIdleCrowd(): boolean {
    const open = this.connections();
    return (
      open > CROWD && [...this.#servers.values()].reduce((sum, server) => sum + server.idle(), 0) === open
    );
  }

  /** Summed over the servers. */
  counts(): ConnectionCounts {
    const sum: Record<string, number> = {};
    for (const server of this.#servers.values()) {
      for (const [name, count] of Object.entries(server.counts())) {
        sum[name] = (sum[name] ?? 0) + Number(count);
      }
    }
    return sum;
  }

  detach(): void {
    this.#each((server) => server.detach());
  }

  #each(run: (server: DrainedServer) => void): void {
    this.#servers.forEach(run);
  }
}
