import { test } from "node:test";
import { CLAUSES } from "../../src/contract/index.ts";
import { proves } from "./proving.ts";
import { naive } from "./services.ts";

test("B9 the same holds over TLS", proves(CLAUSES.B9, [[naive("exit"), /Over TLS, B1/]]));
