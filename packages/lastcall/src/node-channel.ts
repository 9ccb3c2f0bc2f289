/** Messages from the parent of a real process and to it, where there is a channel: pm2 says `shutdown` by one. Part of the real `Host`. */

import type { Undo } from "./host.ts";
import { OWN_LISTENER } from "./registry.ts";

/** The message, by pm2's convention. */
export const SHUTDOWN = "shutdown";

/** The channel counts the listeners of messages, to stay open for them; ours must not count (Node 20 to 26). */
type Channel = { refCounted?(): void; unrefCounted?(): void };

export function onShutdownMessage(run: () => void): Undo {
  return onMessage((message) => {
    if (message === SHUTDOWN) {
      run();
    }
  });
}

/** Listens for the messages of a parent that has a channel to this process. Keeps nothing alive. */
export function onMessage(run: (message: unknown) => void): Undo {
  return onChannel("message", run);
}

/** The channel to the parent has closed. Keeps nothing alive. */
export function onParentGone(run: () => void): Undo {
  return onChannel("disconnect", run);
}

function onChannel(event: "message" | "disconnect", run: (message: unknown) => void): Undo {
  const channel = process.channel as Channel | undefined;
  if (channel === undefined) {
    return () => {};
  }
  const listener = Object.assign((message: unknown) => run(message), { [OWN_LISTENER]: true });
  process.on(event as "message", listener);
  channel.unrefCounted?.();
  return () => {
    if (process.listeners(event as "message").includes(listener)) {
      channel.refCounted?.();
      process.removeListener(event, listener);
    }
  };
}

export function tellParent(message: string): void {
  // A parent that has gone is told nothing, and that is no error of ours.
  process.send?.(message, undefined, undefined, () => {});
}
