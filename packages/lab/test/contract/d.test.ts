import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { breaks, keeps, proves } from "./proving.ts";
import { handsOff, naive, planted } from "./services.ts";

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
  test("D3 what was handed off is run once by the next process, also after SIGKILL in the middle of it", async (t) => {
    await keeps(CLAUSES.D3, handsOff(), t);
    await breaks(CLAUSES.D3, handsOff("forgets"), /handed off was run 0 times/);
    await breaks(CLAUSES.D3, handsOff("repeats"), /handed off was run [23] times/);
    await Promise.all([
      breaks(CLAUSES.D3, handsOff("forgets"), /handed off was run 0 times/),
      breaks(CLAUSES.D3, handsOff("repeats"), /handed off was run [23] times/),
      breaks(
        CLAUSES.D3,
        handsOff("stores late"),
        /killed \d+ ms after the deadline, and the work run 0 times/,
      ),
    ]);
  });
  test(
    "D4 teardown runs after the last work, last opened first closed, and a failing hook stops no other",
    proves(CLAUSES.D4, [[planted({ BREACH: "closes the first first" }), /another order/]]),
  );
  test(
    "D5 a resource registered while teardown runs is closed too",
    proves(CLAUSES.D5, [[planted({ BREACH: "forgets what is late" }), /these ran: third, second, first/]]),
  );
});
