/**
 * The main thread as the watchdog's thread debugs it: pauses it, has it evaluate, and is told when V8 pauses it by itself
 * because its heap is full, which V8 does for whoever debugs at that time, with room for what a debugger may want to do.
 */

import { Session } from "node:inspector";
import type { Frame } from "./call-stack.ts";

export type CallFrame = Frame & { readonly callFrameId: string };

export class MainThread {
  readonly #answerMs: number;
  /** Of each script: a frame's own url is empty. */
  readonly #urls = new Map<string, string>();
  #session: Session | null = null;
  #pausing: ((frames: readonly CallFrame[]) => void) | null = null;
  #exhausted: (frames: readonly CallFrame[]) => void = () => {};

  /** `answerMs`: how long a blocked thread has to answer. */
  constructor(answerMs: number) {
    this.#answerMs = answerMs;
  }

  /** Begins to debug it, which it hardly notices. `exhausted` is called when its heap is full, with it standing still. */
  debug(exhausted: (frames: readonly CallFrame[]) => void): void {
    this.#exhausted = exhausted;
    if (this.#session !== null) {
      return;
    }
    try {
      const session = new Session();
      session.connectToMainThread();
      this.#session = session;
      session.on("Debugger.scriptParsed", ({ params }) => this.#urls.set(params.scriptId, params.url));
      session.on("Debugger.paused", ({ params }) => {
        const frames = params.callFrames.map((frame) => {
          return { ...frame, url: this.#urls.get(frame.location.scriptId) ?? "" };
        });
        if (params.reason === "OOM") {
          this.#exhausted(frames);
        } else {
          this.#pausing?.(frames);
        }
      });
      session.post("Debugger.enable");
    } catch {
      // No inspector in this Node, or not allowed: it ends the hard way.
    }
  }

  /** The stack of the main thread, which stands still from now on; null when it does not answer. */
  pause(): Promise<readonly CallFrame[] | null> {
    return new Promise((resolve) => {
      setTimeout(() => resolve(null), this.#answerMs);
      this.#pausing = resolve;
      this.debug(this.#exhausted);
      if (this.#session === null) {
        resolve(null);
      }
      this.#session?.post("Debugger.pause");
    });
  }

  /** Resolves when the paused thread has answered, or would not. */
  evaluate(frames: readonly CallFrame[], expression: string): Promise<void> {
    const callFrameId = frames[0]?.callFrameId ?? "";
    return new Promise((resolve) => {
      setTimeout(resolve, this.#answerMs);
      this.#session?.post("Debugger.evaluateOnCallFrame", { callFrameId, expression, silent: true }, () =>
        resolve(),
      );
    });
  }

  /** Debugs it no longer. */
  leave(): void {
    this.#session?.disconnect();
    this.#session = null;
  }
}
