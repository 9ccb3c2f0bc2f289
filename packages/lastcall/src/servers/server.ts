/** What the lifecycle asks of a server that it drains, whatever it speaks. HTTP/1.1 is `http1.ts`. */

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

export interface DrainedServer {
  /** t0: from now on each request is put to the admission. */
  begin(): void;
  /** Tell the connections to go elsewhere; once told, calling it again changes nothing. */
  announce(): void;
  /** Empties the accept queue and closes the listener; resolves when it is closed. */
  shut(): Promise<void>;
  /** The linger window is over: end what is idle, now and whenever something becomes idle. */
  sweep(): void;
  /** The deadline: end everything that is unfinished. */
  cut(): readonly Cut[];
  /** How many connections are open. */
  connections(): number;
  /** How many of them lie between two requests and can be left to the exit. */
  idle(): number;
  /** Puts back what was there before. */
  detach(): void;
}
