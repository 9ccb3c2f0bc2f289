import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive, planted } from "./services.ts";

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("G. The process", { concurrency: 2 }, () => {
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
    "G9 two copies of the library in one process are one lifecycle; two majors are an error with a code",
    proves(CLAUSES.G9, [[planted({ BREACH: "two lives" }), /got no answer|wrote 2 records/]]),
  );
});
