/** The host of a lifecycle that auto mode makes: what it may not do to an app that did not ask for one. */

import type { Host } from "./host.ts";

export interface QuietHostOptions {
  /** In place of the process's own. */
  readonly env: Host["env"];
  isStopping(): boolean;
  /** What cannot be had, in place of ending the process. */
  refuse(error: Error): void;
}

/** An app that ends by itself ends as it would without us: with no stop, no record and its own exit code. */
export function quietHost(host: Host, { env, isStopping, refuse }: QuietHostOptions): Host {
  let endsByItself = false;
  return {
    ...host,
    env,
    onEmptyLoop: (run) =>
      host.onEmptyLoop(() => {
        if (isStopping()) {
          run();
        } else {
          endsByItself = true;
        }
      }),
    onExit: (run) =>
      host.onExit((code, stack) => {
        if (!endsByItself) {
          run(code, stack);
        }
      }),
    fail: refuse,
  };
}
