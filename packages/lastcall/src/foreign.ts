/**
 * The app's own stop handlers in auto mode. They usually close the listener or end the process at once, so they wait for
 * the gate, are called then as Node would have called them, and cannot end the process before the stop is through.
 */

import { AsyncLocalStorage } from "node:async_hooks";
import type { Host, StopRequest, Undo } from "./host.ts";
import type { TeardownContext } from "./teardown.ts";

interface Called {
  readonly name: string;
  ended: boolean;
}

export class ForeignHandlers {
  readonly #host: Host;
  readonly #say: (line: string) => void;
  /** Tells what a handler began from what anybody else does. */
  readonly #inside = new AsyncLocalStorage<true>();
  readonly #called: Called[] = [];
  /** How many promises have not settled. */
  #promises = 0;
  /** One has asked for the exit, or nothing is left that could settle. */
  #isOver = false;
  readonly #waiting = new Set<() => void>();
  #signal: { readonly name: StopRequest; readonly heardAt: number } | null = null;
  #calledAt: number | null = null;
  #exit: { readonly code: number | null; readonly askedAt: number } | null = null;

  constructor(host: Host, say: (line: string) => void) {
    this.#host = host;
    this.#say = say;
  }

  /** The first stop signal: the one that the handlers will be called with. */
  heard(signal: StopRequest): void {
    this.#signal ??= { name: signal, heardAt: this.#host.now() };
  }

  /** From now on an exit that a handler asks for is held. */
  holdExit(): Undo {
    return this.#host.interceptExit((code) => {
      if (this.#inside.getStore() !== true) {
        return false;
      }
      this.#exit ??= { code, askedAt: this.#host.now() };
      this.#end();
      return true;
    });
  }

  /** A handler that asks for the stop is through with it, like one that asks for the exit. */
  shutdownAsked(): void {
    if (this.#inside.getStore() === true) {
      this.#end();
    }
  }

  /** Calls the handlers, once. What one of them throws is as uncaught as it would be without us. */
  call(): void {
    if (this.#signal === null || this.#calledAt !== null) {
      return;
    }
    const signal = this.#signal.name;
    const handlers = this.#host.foreignListeners(signal);
    this.#calledAt = this.#host.now();
    if (handlers.length > 0) {
      this.#say(
        `calling the app's own ${signal} handler: ${handlers.map(({ name }) => name).join(", ")}, held ${this.#heldMs()} ms`,
      );
    }
    for (const handler of handlers) {
      const called: Called = { name: handler.name, ended: false };
      this.#called.push(called);
      this.#inside.run(true, () => {
        void this.#follow(called, handler.call);
      });
    }
  }

  /** Whether a promise that they have returned has not settled. */
  get isPromising(): boolean {
    return this.#promises > 0;
  }

  /** What a callback of theirs has returned is theirs. */
  alsoPromised(result: unknown): void {
    if (isThenable(result)) {
      void this.#hold(result);
    }
  }

  /** Resolves when those promises have settled, or one has asked for the exit. */
  promised(): Promise<void> {
    return this.#until(() => !this.isPromising);
  }

  /**
   * Resolves when the handlers are through: each one's promise has settled, or one has asked for the exit, or nothing is
   * left in the event loop. A handler that returns nothing and does none of it uses up the teardown timeout.
   */
  async wait(context: TeardownContext): Promise<void> {
    this.call();
    if (this.#called.length === 0) {
      return;
    }
    const undo = this.#host.onEmptyLoop(() => this.#end());
    context.signal.addEventListener("abort", () => this.#end(), { once: true });
    await this.#until(() => !this.isPromising && this.#called.every(({ ended }) => ended));
    undo();
  }

  get exitCode(): number | null {
    return this.#exit?.code ?? null;
  }

  /** `SIGTERM: shutdown (server.js:42), held 251 ms, asked for exit code 0 after 12 ms`. */
  describe(): readonly string[] {
    const signal = this.#signal?.name;
    if (signal === undefined || this.#called.length === 0) {
      return [];
    }
    const exit =
      this.#exit === null
        ? ""
        : `, ${this.#exit.code === null ? "signalled itself" : `asked for exit code ${this.#exit.code}`} after ${Math.round(this.#exit.askedAt - (this.#calledAt ?? 0))} ms`;
    return this.#called.map(({ name }) => `${signal}: ${name}, held ${this.#heldMs()} ms${exit}`);
  }

  #heldMs(): number {
    return this.#signal === null ? 0 : Math.round((this.#calledAt ?? 0) - this.#signal.heardAt);
  }

  async #follow(called: Called, run: () => unknown): Promise<void> {
    const over = (): void => {
      called.ended = true;
      this.#look();
    };
    try {
      const result = run();
      if (!isThenable(result)) {
        // It may have begun anything; only an exit or an empty loop tells that it is through.
        return;
      }
      await this.#hold(result);
    } catch (error) {
      over();
      throw error;
    }
    over();
  }

  /** Rejects as it does: nobody has caught that. */
  async #hold(promise: PromiseLike<unknown>): Promise<void> {
    this.#promises += 1;
    try {
      await promise;
    } finally {
      this.#promises -= 1;
      this.#look();
    }
  }

  #end(): void {
    this.#isOver = true;
    this.#look();
  }

  #look(): void {
    this.#waiting.forEach((look) => look());
  }

  #until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const look = (): void => {
        if (this.#isOver || isSo()) {
          this.#waiting.delete(look);
          resolve();
        }
      };
      this.#waiting.add(look);
      look();
    });
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { then?: unknown } | null | undefined)?.then === "function";
}
