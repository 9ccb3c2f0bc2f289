/** The launcher: options in, the parts put together, one build started, the start line out. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openAccessLog } from "./access-log.ts";
import { createApp } from "./app.ts";
import { loadAutoMode } from "./builds/auto-mode.ts";
import { bare } from "./builds/bare.ts";
import type { Build } from "./builds/build.ts";
import { lastcall } from "./builds/lastcall.ts";
import { naive } from "./builds/naive.ts";
import { answerJson } from "./http-answer.ts";
import { openEvents, openLines } from "./lines.ts";
import { createMailer } from "./mail.ts";
import { parseOptions, UsageError, type BuildName, type Options } from "./options.ts";
import { handWrittenProbes } from "./probes.ts";
import { createRoutes } from "./routes.ts";
import { openStore } from "./store.ts";

const BUILDS: Readonly<Record<BuildName, Build>> = {
  bare,
  naive,
  lastcall,
  auto: bare,
  "auto-naive": naive,
};

function start(options: Options): void {
  const { eventsFile } = options;
  const note = openEvents(eventsFile);
  const executed = openLines(options.executedFile);
  const accessLog = openAccessLog(options.accessLogFile);
  const mailer = createMailer(options.outboxFile, note);
  process.once("exit", (code) => note("exit", { code, unsentMails: mailer.unsent }));

  const store = openStore(options.ordersFile);
  note("database opened", { store: store.kind });
  const probes = handWrittenProbes(accessLog.counts);
  const server = BUILDS[options.build]({
    options,
    note,
    store,
    counts: accessLog.counts,
    probes,
    handler: ({ track, stopping }) =>
      createApp(
        createRoutes({
          store,
          mailer,
          track,
          stopping,
          eventsFile,
          executed: (id) => executed.write(id),
        }),
        accessLog,
        note,
      ),
  });
  server.once("error", (error) => fail(error.message, 1));
  server.once("listening", () => {
    const { port } = server.address() as AddressInfo;
    note("started", { build: options.build, port });
    console.log(`orders: ${options.build} listening on ${options.host}:${port}, orders in ${store.kind}`);
  });
  if (options.adminPort !== undefined && options.build !== "lastcall") {
    createServer((req, res) => {
      if (!probes(req, res)) answerJson(res, 404, { error: "not found" });
    })
      .once("error", (error) => fail(error.message, 1))
      .listen(options.adminPort, options.host);
  }
}

function fail(message: string, exitCode: number): never {
  console.error(`orders: ${message}`);
  process.exit(exitCode);
}

try {
  const options = parseOptions(process.argv.slice(2), process.env);
  // It is read now; the library warns of LASTCALL_ variables that nobody reads.
  delete process.env["LASTCALL_EXECUTED"];
  if (options.build === "auto" || options.build === "auto-naive") await loadAutoMode(options);
  start(options);
} catch (error) {
  if (error instanceof UsageError) fail(error.message, 2);
  fail(error instanceof Error ? error.message : String(error), 1);
}
