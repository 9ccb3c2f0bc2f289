import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive, planted, service } from "./services.ts";

/** Its probes stand for ordinary requests: clients see answers that the record does not count. */
const countsTooMuch = { ...service, routes: { ...service.routes, ordinary: "GET /livez?id={id}" } } as const;

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("E. Saying what happened", { concurrency: 2 }, () => {
  test(
    "E1 one machine-readable line is written at the end and says everything that happened",
    proves(CLAUSES.E1, [[naive("exit"), /0 records/]]),
  );
  test(
    "E2 the counts of the record equal what the clients saw",
    proves(CLAUSES.E2, [[countsTooMuch, /The clients saw/]]),
  );
  test(
    "E3 clean and incomplete shutdowns have different exit codes",
    proves(CLAUSES.E3, [[naive("exit"), /were 0 \(clean\) and 0/]]),
  );
  test(
    "E4 a refusal is a clear no: 503 with Connection: close and Retry-After, or a refused connection",
    proves(CLAUSES.E4, [[naive("close"), /instead of a whole 503/]]),
  );
  test(
    "E5 while it waits it says on what, at least once a second",
    proves(CLAUSES.E5, [[planted({ LASTCALL_LOG: "none" }), /0 lines named the route/]]),
  );
  test(
    "E6 the record survives a pipe, a closed stderr, and an app that ends the process itself",
    proves(CLAUSES.E6, [[planted({}, ["recordFile"]), /holds 0 records/]]),
  );
});
