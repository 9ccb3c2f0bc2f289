/** All servers of the process as one drain: what was asked of the first is asked of one that joins late, too. */

import type { Server } from "node:http";
import type { Admission } from "../admission.ts";
import { LastcallError } from "../errors.ts";
import type { Host } from "../host.ts";
import { exchangeOf, HttpExchange } from "./http-exchange.ts";
import { attachHttp1 } from "./http1.ts";
import type { ProbeHandler } from "./probe-handler.ts";
import type { Cut } from "./server.ts";
import type { DrainedServer } from "./server.ts";

export interface FleetHooks {
  readonly host: Host;
  readonly admission: Admission;
  readonly probes: ProbeHandler;
  /** The last connection of a server has closed, or the last listener. */
  onQuiet(): void;
}

/** As many idle connections are closed one by one in a few milliseconds. */
const FEW = 256;

export class Fleet {
  readonly #hooks: FleetHooks;
  readonly #servers = new Map<Server, DrainedServer>();
  /** Servers on which the app has mounted the probes. */
  readonly #probed = new Set<Server>();
  #begun = false;
  #announced = false;
  #shut = false;
  #swept = false;
  /** Listeners that are about to be closed. */
  #closing = 0;

  constructor(hooks: FleetHooks) {
    this.#hooks = hooks;
  }

  /** Errors: LASTCALL_SERVER. */
  add(server: Server): void {
    if (this.#servers.has(server)) {
      return;
    }
    if (typeof server?.closeIdleConnections !== "function") {
      throw new LastcallError(
        "LASTCALL_SERVER",
        "life.http() was given something that is no HTTP/1.1 server.",
      );
    }
    const { host, admission, probes, onQuiet } = this.#hooks;
    const drained = attachHttp1(server, {
      host,
      admission,
      answerProbe: (request, response) => this.#probed.has(server) && probes(request, response),
      onQuiet,
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

  /** A probe came in by an attached server: it is no work, and the server answers probes. */
  noteProbe(request: Parameters<ProbeHandler>[0]): void {
    const exchange = exchangeOf(request);
    if (exchange !== undefined) {
      this.#probed.add(exchange.server);
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
  }

  /** Closes every listener, then announces to whom was not told before. */
  shut(): void {
    if (this.#shut) {
      return;
    }
    this.#shut = true;
    // With no server at all the news comes later too, like any other.
    this.#await(Promise.resolve());
    this.#each((server) => this.#await(server.shut()));
  }

  #await(closed: Promise<void>): void {
    this.#closing += 1;
    void closed.then(() => {
      this.#closing -= 1;
      if (this.#closing === 0) {
        this.announce();
        this.#hooks.onQuiet();
      }
    });
  }

  get listeners(): "open" | "closing" | "closed" {
    return !this.#shut ? "open" : this.#closing > 0 ? "closing" : "closed";
  }

  /** The linger window is over. */
  sweep(): void {
    this.#swept = true;
    this.#each((server) => server.sweep());
  }

  /** Tells those who asked for a signal that the deadline is near. */
  abort(reason: string): void {
    for (const exchange of this.#hooks.admission.inFlight) {
      if (exchange instanceof HttpExchange) {
        exchange.abort(reason);
      }
    }
  }

  cut(): readonly Cut[] {
    this.shut();
    return [...this.#servers.values()].flatMap((server) => server.cut());
  }

  connections(): number {
    return [...this.#servers.values()].reduce((sum, server) => sum + server.connections(), 0);
  }

  /** Whether all that is open is a crowd of idle connections. */
  isIdleCrowd(): boolean {
    const open = this.connections();
    return open > FEW && [...this.#servers.values()].reduce((sum, server) => sum + server.idle(), 0) === open;
  }

  detach(): void {
    this.#each((server) => server.detach());
  }

  #each(run: (server: DrainedServer) => void): void {
    this.#servers.forEach(run);
  }
}
