import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive, planted } from "./services.ts";

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("B. Finishing what was accepted", { concurrency: 2 }, () => {
  test(
    "B1 a request in flight when the gate closes is answered in full, then the process exits",
    proves(CLAUSES.B1, [[naive("exit"), /left before it had answered|got no answer/]]),
  );
  test(
    "B2 exit follows the last of work, linger window and teardown within 50 ms",
    proves(CLAUSES.B2, [[naive("polls"), /ms after its last answer/]]),
  );
  test(
    "B3 a response that is already streaming arrives whole, with its terminating chunk",
    proves(CLAUSES.B3, [[naive("exit"), /cut short/]]),
  );
  test(
    "B4 a request body still being uploaded is read to its end and answered",
    proves(CLAUSES.B4, [[naive("exit"), /got no answer/]]),
  );
  test(
    "B5 a request whose head was half received is answered: served, or a clean 503",
    proves(CLAUSES.B5, [[naive("exit"), /got no answer/]]),
  );
  test(
    "B6 pipelined requests already received are all answered, in order",
    proves(CLAUSES.B6, [[naive("exit"), /got no answer/]]),
  );
  test(
    "B7 idle kept-alive connections delay exit by no more than the linger window",
    proves(CLAUSES.B7, [[naive("holds"), /still running/]]),
  );
  test(
    "B8 connections that never sent a byte, and TLS handshakes in progress, delay exit by no more than the linger window",
    proves(CLAUSES.B8, [[naive("close"), /still running|got no answer/]]),
  );
  test(
    "B10 a handler whose client has gone away counts as in flight until it has settled (boundary handler)",
    proves(CLAUSES.B10, [[planted({}, ["boundary"]), /handler still at work/]]),
  );
  test(
    "B11 several servers in one process are one drain, and the admin port closes last",
    proves(CLAUSES.B11, [[planted({ BREACH: "forgets a door" }), /unix socket still accepted/]]),
  );
});
