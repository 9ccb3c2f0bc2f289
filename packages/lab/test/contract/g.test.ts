import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { initPrefix } from "../../src/contract/processes.ts";
import { realProgram } from "../real-parts.ts";
import { breaks, keeps, proves } from "./proving.ts";
import { autoService, clustered, naive, planted, service } from "./services.ts";

const noNamespace =
  initPrefix() === null && process.env["CI"] === undefined ? "unshare --pid is not permitted here" : false;

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("G. The process", { concurrency: 2 }, () => {
  test(
    "G1 it works as PID 1: the stop signal is heard, work is answered, the exit codes are the same",
    { skip: noNamespace },
    proves(CLAUSES.G1, [[naive("raises"), /PID 1 was still running/]]),
  );
  test(
    "G2 a stop signal during start-up ends the process within 1 s, exit code 0, and nothing listens afterwards",
    proves(CLAUSES.G2, [[naive("close"), /SIGTERM/]]),
  );
  test(
    "G3 100 signals within a second have the effect of one",
    proves(CLAUSES.G3, [[naive("is impatient"), /got no answer/]]),
  );
  test(
    "G4 an uncaught error while draining still runs teardown and exits non-zero",
    proves(CLAUSES.G4, [[naive("close"), /1 of 3 hooks ran|still running/]]),
  );
  test(
    "G5 a unix socket's file is gone after exit if it is still ours, and an inherited socket is left open",
    proves(CLAUSES.G5, [[planted({ BREACH: "removes every file" }), /removed by the old one/]]),
  );
  test(
    "G6 under systemd Type=notify it says READY, STOPPING, a status line, and asks for the time it needs",
    { skip: realProgram("systemd-notify", "systemd") },
    proves(CLAUSES.G6, [[naive("close"), /never told READY=1/]]),
  );
  test("G7 cluster workers drain within the primary's one budget, and the primary leaves last", async (t) => {
    await keeps(CLAUSES.G7, clustered(), t);
    await breaks(CLAUSES.G7, clustered("leaves them"), /in flight in a worker/);
  });
  test("G8 a foreign stop handler is held to the gate in auto mode, and named by an explicit lifecycle", async (t) => {
    await proves(CLAUSES.G8, [
      [naive("exit"), /without a machine-readable line/],
      [
        { ...service, modes: { foreignHandler: { FOREIGN: "listens" }, foreignExit: { FOREIGN: "exits" } } },
        /beside a handler that would exit, got no answer/,
      ],
    ])(t);
    await keeps(CLAUSES.G8, autoService, t);
  });
  test(
    "G9 two copies of the library in one process are one lifecycle; two majors are an error with a code",
    proves(CLAUSES.G9, [[planted({ BREACH: "two lives" }), /got no answer|wrote 2 records/]]),
  );
});
