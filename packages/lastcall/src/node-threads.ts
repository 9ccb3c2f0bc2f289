/**
 * Worker threads that have a lifecycle of their own as parts of the process's stop. A thread hears no signal: the main
 * thread passes each one on, over a channel that both find by its name. Part of the real `Host`.
 */

import { BroadcastChannel, isMainThread, threadId, type Worker } from "node:worker_threads";
import type { Undo } from "./host.ts";
import type { ClusterWorker } from "./platform/cluster.ts";

const NAME = "lastcall.threads";

/** A thread tells that it has a lifecycle; the main thread tells one of them which signal came. */
type Message = { readonly hello: number } | { readonly to: number; readonly signal: NodeJS.Signals };

/** The main thread's view. One per process and copy of the library, for as long as somebody watches. */
class Threads {
  watchers = 0;
  readonly #workers = new Map<number, Worker>();
  readonly #serving = new Map<number, ClusterWorker>();
  readonly #watching = new Set<(worker: ClusterWorker) => void>();
  #channel: BroadcastChannel | null = null;

  /** Node's own event, for each thread that is started from now on. A process without threads opens no channel. */
  readonly #started = (worker: Worker): void => {
    const id = worker.threadId;
    this.#channel ??= openChannel((message) => this.#heard(message));
    this.#workers.set(id, worker);
    worker.once("exit", () => {
      this.#workers.delete(id);
      this.#serving.delete(id);
    });
  };

  constructor() {
    process.on("worker", this.#started);
  }

  close(): void {
    process.removeListener("worker", this.#started);
    this.#channel?.close();
  }

  serving(): readonly ClusterWorker[] {
    return [...this.#serving.values()];
  }

  watch(started: (worker: ClusterWorker) => void): Undo {
    this.#watching.add(started);
    return () => void this.#watching.delete(started);
  }

  #heard(message: Message): void {
    const worker = "hello" in message ? this.#workers.get(message.hello) : undefined;
    if (worker === undefined) {
      return;
    }
    const id = worker.threadId;
    const one: ClusterWorker = {
      name: `worker thread ${id}`,
      signal: (signal) => this.#channel?.postMessage({ to: id, signal } satisfies Message),
      onEnd: (run) => void worker.once("exit", (code) => run(code === 0 ? null : `exit code ${code}`)),
    };
    this.#serving.set(id, one);
    this.#watching.forEach((started) => started(one));
  }
}

let threads: Threads | null = null;

/** Begins to notice threads. Those that were started before are not known. */
export function watchThreads(): Undo {
  if (!isMainThread) {
    return () => {};
  }
  const watched = (threads ??= new Threads());
  watched.watchers += 1;
  let isOver = false;
  return () => {
    watched.watchers -= isOver ? 0 : 1;
    isOver = true;
    if (watched.watchers === 0 && threads === watched) {
      watched.close();
      threads = null;
    }
  };
}

/** The threads with a lifecycle. */
export function servingThreads(): readonly ClusterWorker[] {
  return threads?.serving() ?? [];
}

export function onServingThread(started: (worker: ClusterWorker) => void): Undo {
  return threads?.watch(started) ?? (() => {});
}

/** In a thread: who listens for which signal. */
const listeners = new Map<string, Set<() => void>>();
let channel: BroadcastChannel | null = null;

/** In a thread: listens for a signal that the main thread passes on. */
export function onPassedSignal(signal: NodeJS.Signals, run: () => void): Undo {
  if (channel === null) {
    channel = openChannel((message) => {
      if ("to" in message && message.to === threadId) {
        listeners.get(message.signal)?.forEach((heard) => heard());
      }
    });
    channel.postMessage({ hello: threadId } satisfies Message);
  }
  const all = listeners.get(signal) ?? new Set();
  listeners.set(signal, all);
  all.add(run);
  return () => {
    all.delete(run);
    if (channel !== null && [...listeners.values()].every(({ size }) => size === 0)) {
      channel.close();
      channel = null;
    }
  };
}

/** It keeps nothing alive. */
function openChannel(heard: (message: Message) => void): BroadcastChannel {
  const opened = new BroadcastChannel(NAME);
  opened.addEventListener("message", (event: unknown) => heard((event as { readonly data: Message }).data));
  opened.unref();
  return opened;
}
