import { suite, test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive } from "./services.ts";

// Judges mostly wait, so that two of them share a core without disturbing each other.
suite("B. Finishing what was accepted, over TLS", { concurrency: 2 }, () => {
  test("B9 the same holds over TLS", proves(CLAUSES.B9, [[naive("exit"), /Over TLS, B1/]]));
});
