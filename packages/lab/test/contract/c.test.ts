import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive, planted } from "./services.ts";

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("C. The deadline", { concurrency: 2 }, () => {
  test(
    "C1 a request that never ends is cut at the deadline, and the process exits within 250 ms",
    proves(CLAUSES.C1, [
      [naive("close"), /still running/],
      [naive("cuts cleanly"), /instead of a whole 503/],
    ]),
  );
  test(
    "C2 before a request is cut its handler is told, and what it throws then changes no exit code",
    proves(CLAUSES.C2, [[planted({}, ["abortWindow"]), /was told \d+ ms after t0 instead of after 800 ms/]]),
  );
  test(
    "C3 a client that does not read, or sends a byte at a time, cannot hold the process past the deadline",
    proves(CLAUSES.C3, [[naive("close"), /still running/]]),
  );
  test(
    "C4 a handler that blocks the event loop cannot hold the process past the deadline by more than 500 ms",
    proves(CLAUSES.C4, [[naive("close"), /still running/]]),
  );
  test(
    "C5 a teardown hook that never settles is bounded, and the hooks after it still run",
    proves(CLAUSES.C5, [
      [
        planted({ LASTCALL_TEARDOWN_TIMEOUT: "1800ms" }, ["teardownTimeout"]),
        /A hook that hangs held the process/,
      ],
    ]),
  );
  test(
    "C6 all phases together end before the grace period; a budget that cannot fit is refused at start",
    proves(CLAUSES.C6, [[naive("close"), /serves with a budget/]]),
  );
  test("C7 wall-clock jumps change no phase", proves(CLAUSES.C7, [[planted({ BREACH: "wall clock" }), /./]]));
  test(
    "C8 a response cut short is recognisable as cut by any client: a reset, never a clean end",
    proves(CLAUSES.C8, [[naive("cuts cleanly"), /as if it were whole/]]),
  );
});
