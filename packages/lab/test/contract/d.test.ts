import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive, planted } from "./services.ts";

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("D. Work after the response", { concurrency: 2 }, () => {
  test(
    "D1 tracked work is finished before teardown begins, within the deadline",
    proves(CLAUSES.D1, [[naive("close"), /without finishing tracked work/]]),
  );
  test(
    "D2 tracked work that has not finished at the deadline meets its declared fate and is named",
    proves(CLAUSES.D2, [[naive("close"), /never told/]]),
  );
  test(
    "D4 teardown runs after the last work, last opened first closed, and a failing hook stops no other",
    proves(CLAUSES.D4, [[planted({ BREACH: "closes the first first" }), /another order/]]),
  );
  test(
    "D5 a resource registered while teardown runs is closed too",
    proves(CLAUSES.D5, [[planted({ BREACH: "forgets what is late" }), /these ran: third, second, first/]]),
  );
});
