/** Teardown: the hooks run one after the other, last registered first, each bounded, and no failure stops the next. */

import type { Host, Undo } from "./host.ts";

/** What a hook is told. */
export interface TeardownContext {
  /** Aborts when the hook's time is over. */
  readonly signal: AbortSignal;
  /** How long the hook may still take, in milliseconds. */
  remainingMs(): number;
}

export type TeardownHook = (context: TeardownContext) => unknown;

export interface HookReport {
  readonly name: string;
  /** `skipped`: the watchdog ended the process before it ran, or while it did. */
  readonly outcome: "done" | "failed" | "timed out" | "skipped";
  readonly ms: number;
  readonly error?: string;
}

/** What a hook that hangs must leave to each hook after it. */
const SHARE_MS = 250;

interface Entry {
  readonly name: string;
  readonly hook: TeardownHook;
}

/** A stack of hooks. One that is registered while teardown runs is the next to run; after the end it runs at once. */
export class Teardown {
  readonly #host: Host;
  readonly #stack: Entry[] = [];
  readonly #reports: HookReport[] = [];
  readonly #failures: unknown[] = [];
  #running: string | null = null;
  #ended = false;

  constructor(host: Host) {
    this.#host = host;
  }

  add(name: string, hook: TeardownHook): Undo {
    const entry = { name, hook };
    this.#stack.push(entry);
    if (this.#ended) {
      void this.#runNext(this.#host.now());
      return () => {};
    }
    return () => {
      const at = this.#stack.indexOf(entry);
      if (at !== -1) {
        this.#stack.splice(at, 1);
      }
    };
  }

  /** The hook that runs now. */
  get running(): string | null {
    return this.#running;
  }

  /** Runs every hook; resolves when all have settled or their time is over, never rejects. */
  async run(timeoutMs: number): Promise<void> {
    const endAt = this.#host.now() + timeoutMs;
    while (this.#stack.length > 0) {
      await this.#runNext(endAt);
    }
    this.#ended = true;
  }

  reports(): readonly HookReport[] {
    return this.#reports;
  }

  /** The hooks that have not ended, in the order in which they would. */
  pending(): readonly string[] {
    const waiting = this.#stack.map(({ name }) => name).toReversed();
    return this.#running === null ? waiting : [this.#running, ...waiting];
  }

  /** All failures as one error, or null. */
  failure(): AggregateError | null {
    return this.#failures.length === 0
      ? null
      : new AggregateError(this.#failures, `${this.#failures.length} teardown hooks failed.`);
  }

  async #runNext(endAt: number): Promise<void> {
    const entry = this.#stack.pop();
    if (entry === undefined) {
      return;
    }
    const startedAt = this.#host.now();
    const left = Math.max(0, endAt - startedAt);
    // The hooks after this one keep a share, so that one that hangs does not take all the time there is.
    const share = Math.min(SHARE_MS, left / (2 * (this.#stack.length + 1)));
    const limitAt = endAt - share * this.#stack.length;
    const abort = new AbortController();
    this.#running = entry.name;
    const undo: Undo[] = [];
    const timeUp = new Promise<"timed out">((resolve) => {
      let emptied = 0;
      undo.push(
        // It does not keep the loop alive: a hook that nothing is left to settle need not use up its time.
        this.#host.setTimer(Math.max(0, limitAt - startedAt), () => resolve("timed out"), true),
        this.#host.onEmptyLoop(() => {
          emptied += 1;
          if (emptied > 1) {
            resolve("timed out");
          } else {
            // One more turn: the hook itself may have waited for this.
            this.#host.afterPoll(() => {});
          }
        }),
      );
    });
    const context: TeardownContext = {
      signal: abort.signal,
      remainingMs: () => Math.max(0, limitAt - this.#host.now()),
    };
    let error: string | undefined;
    const work = (async (): Promise<"done" | "failed"> => {
      try {
        await entry.hook(context);
        return "done";
      } catch (thrown) {
        this.#failures.push(thrown);
        error = thrown instanceof Error ? thrown.message : String(thrown);
        return "failed";
      }
    })();
    const outcome = await Promise.race([work, timeUp]);
    undo.forEach((remove) => remove());
    if (outcome === "timed out") {
      abort.abort(new DOMException(`Teardown hook '${entry.name}' ran out of time.`, "TimeoutError"));
    }
    this.#running = null;
    this.#reports.push({
      name: entry.name,
      outcome,
      ms: Math.round(this.#host.now() - startedAt),
      ...(error === undefined ? {} : { error }),
    });
  }
}
