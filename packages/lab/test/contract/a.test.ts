import { test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive } from "./services.ts";

const closes = naive("close");

test(
  "A1 readiness answers 503 within 100 ms of the stop signal, at every door, and never 200 again",
  proves(CLAUSES.A1, [[closes, /never answered 503/]]),
);
test(
  "A2 liveness answers 200 to the gate on the public port, and to the end of teardown on the admin port",
  proves(CLAUSES.A2, [[closes, /Liveness .* got no answer/]]),
);
test(
  "A3 during the drain delay new connections are accepted and requests are answered as before",
  proves(CLAUSES.A3, [[closes, /got no answer \(refused\)/]]),
);
test(
  "A4 every response whose head is written after t0 carries Connection: close, whatever the app sets",
  proves(CLAUSES.A4, [[closes, /got no answer/]]),
);
test(
  "A5 no request is lost on a kept-alive connection whose next request comes within the linger window",
  proves(CLAUSES.A5, [[closes, /just after the gate, got no answer/]]),
);
test(
  "A6 with a drain delay of 0 the gate closes at the stop signal",
  proves(CLAUSES.A6, [[naive("exit"), /got no answer/]]),
);
test(
  "A7 a second stop signal ends the drain delay at once, and in-flight work still gets its time",
  proves(CLAUSES.A7, [[closes, /refused/]]),
);
test(
  "A8 connections waiting in the accept queue at the gate are served or refused, not reset",
  proves(CLAUSES.A8, [[naive("exit"), /reset/]]),
);
test(
  "A9 no request is both refused and run, and none runs uncounted",
  proves(CLAUSES.A9, [[naive("exit"), /without a machine-readable line/]]),
);
