/** What the lifecycle asks of a server that it drains, whatever it speaks. */

import type { Admission } from "../admission.ts";
import type { Host } from "../host.ts";
import type { Closed } from "./listener.ts";
import type { ProbeRequest, ProbeResponse } from "./probe-handler.ts";

/** What a server asks of its lifecycle. */
export interface ServerHooks {
  readonly host: Host;
  readonly admission: Admission;
  /** Answers a probe that is mounted on the served port; false when the request is none. */
  answerProbe(request: ProbeRequest, response: ProbeResponse): boolean;
  /** How long the connections may take to be told: what is left of the drain delay, after the gate the linger window. */
  announceWindowMs(): number;
  /** How long the accept queue may be emptied at the longest. */
  emptyingMs(): number;
  /** Tell the connections one by one over that time, not all at once. WebSockets are told so in any case. */
  readonly spread: boolean;
  /** A connection has come since the stop began; what it asks has not been read. */
  onConnection(): void;
  /** The last connection has closed: perhaps the drain is over. */
  onQuiet(): void;
}

/** One piece of work that was ended at the deadline. */
export interface Cut {
  readonly route: string;
  readonly startedAt: number;
  /**
   * `503`: it had no head and got ours. `reset`: it had begun to answer, and must not look complete. `handler`: its
   * response was out or its client gone, and only the handler ran on.
   */
  readonly how: "503" | "reset" | "handler";
}

/** Connections that speak something else than HTTP/1.1, for the record. */
export interface ConnectionCounts {
  /** Sessions that were told to leave, and those of them that the deadline ended. */
  readonly http2Sessions?: number;
  readonly http2SessionsCut?: number;
  /** WebSockets that got a close frame, and those that the deadline cut in the middle of a message. */
  readonly webSockets?: number;
  readonly webSocketsCut?: number;
  /** Connections of other protocols, upgraded or CONNECT, that the deadline ended. */
  readonly tunnelsCut?: number;
}

/** One protocol of a server: `http1.ts` is the first for every connection, the others take over from it. */
export interface DrainedPart {
  /** t0: from now on each request is put to the admission. */
  begin(): void;
  /** Tell the connections to go elsewhere; once told, calling it again changes nothing. */
  announce(): void;
  /** The listener has closed. */
  shut(): void;
  /** The linger window is over: end what is idle, now and whenever something becomes idle. */
  sweep(): void;
  /** The deadline: end everything that is unfinished. */
  cut(): readonly Cut[];
  /** How many connections are open. */
  connections(): number;
  /** How many of them lie between two requests and can be left to the exit. */
  idle(): number;
  counts(): ConnectionCounts;
  /** Puts back what was there before. */
  detach(): void;
}

export interface DrainedServer extends Omit<DrainedPart, "shut"> {
  /** Empties the accept queue and closes the listener; resolves when it is closed. */
  shut(): Promise<Closed>;
}
