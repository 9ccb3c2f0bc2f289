import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive, planted } from "./services.ts";

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("A. Leaving the router first", { concurrency: 2 }, () => {
  test(
    "A1 readiness answers 503 within 100 ms of the stop signal, at every door, and never 200 again",
    proves(CLAUSES.A1, [[naive("close"), /never answered 503/]]),
  );
  test(
    "A2 liveness answers 200 to the gate on the public port, and to the end of teardown on the admin port",
    proves(CLAUSES.A2, [[naive("close"), /Liveness .* got no answer/]]),
  );
  test(
    "A3 during the drain delay new connections are accepted and requests are answered as before",
    proves(CLAUSES.A3, [[naive("close"), /got no answer/]]),
  );
  test(
    "A4 every response whose head is written after t0 carries Connection: close, whatever the app sets",
    proves(CLAUSES.A4, [
      [planted({ LASTCALL_LEAVE_ORDER: "listener-first" }, ["leaveOrder"]), /keep-alive instead of close/],
      [planted({}, ["announce"]), /were told in each third of the delay/],
    ]),
  );
  test(
    "A5 no request is lost on a kept-alive connection whose next request comes within the linger window",
    proves(CLAUSES.A5, [
      [naive("close"), /just after the gate, got no answer/],
      [planted({ LASTCALL_LINGER: "0" }, ["linger"]), /just after the gate, got/],
    ]),
  );
  test(
    "A6 with a drain delay of 0 the gate closes at the stop signal",
    proves(CLAUSES.A6, [
      [planted({ LASTCALL_DRAIN_DELAY: "2s" }, ["drainDelay"]), /accepted until the request in flight/],
      [naive("exit"), /got no answer/],
    ]),
  );
  test(
    "A7 a second stop signal ends the drain delay at once, and in-flight work still gets its time",
    proves(CLAUSES.A7, [
      [naive("delays"), /did not end the drain delay/],
      [naive("is impatient"), /got no answer/],
    ]),
  );
  test(
    "A8 connections waiting in the accept queue at the gate are served or refused, not reset",
    proves(CLAUSES.A8, [[naive("close"), /were reset although/, 4]]),
  );
  test(
    "A9 no request is both refused and run, and none runs uncounted",
    proves(CLAUSES.A9, [
      [planted({ BREACH: "runs what it refuses" }), /answered 503 and run|the record counts/],
    ]),
  );
});
