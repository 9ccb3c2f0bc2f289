/** The library: a budget, one drain for everything that was accepted, teardown last, a record at the end. */

import { createServer, type Server } from "node:http";
import { createLifecycle, LastcallError } from "lastcall";
import { nameCopy } from "../app.ts";
import { UsageError, type Options } from "../options.ts";
import { counted } from "../tracking.ts";
import { echoWebSocket } from "../web-socket.ts";
import type { Parts } from "./build.ts";
import { noteLifecycle } from "./lifecycle-events.ts";

export function lastcall({ options, handler, store, note }: Parts): Server {
  const life = createCheckedLifecycle(options);

  const tasks = counted((name, work, onDeadline) => life.task(name, work, { onDeadline }));
  const app = handler({ track: tasks.track, stopping: life.signal });
  const route = life.handler(app);
  const server = createServer((req, res) => {
    nameCopy(res);
    if (!life.probes(req, res)) void route(req, res);
  });
  server.on("upgrade", echoWebSocket);
  life.http(server);
  life.onTeardown("database", () => {
    store.close();
    note("database closed");
  });
  noteLifecycle(life, tasks.counts, note);
  return server.listen(options.port, options.host, () => life.ready());
}

/** A budget that cannot fit was said on the command line or in the environment: wrong usage, and the sum is spelled out. */
function createCheckedLifecycle(options: Options): ReturnType<typeof createLifecycle> {
  try {
    return createLifecycle({
      adminHost: options.host,
      probePaths: { live: "/health", ready: "/ready", state: "/statez" },
      ...options.lifecycle,
    });
  } catch (error) {
    if (error instanceof LastcallError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}
