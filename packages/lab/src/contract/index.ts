/** Every clause of docs/contract.md in one table, which the compiler keeps complete. */

import { clause as a1 } from "./a1.ts";
import { clause as a2 } from "./a2.ts";
import { clause as a3 } from "./a3.ts";
import { clause as a4 } from "./a4.ts";
import { clause as a5 } from "./a5.ts";
import { clause as a6 } from "./a6.ts";
import { clause as a7 } from "./a7.ts";
import { clause as a8 } from "./a8.ts";
import { clause as a9 } from "./a9.ts";
import { clause as b1 } from "./b1.ts";
import { clause as b2 } from "./b2.ts";
import { clause as b3 } from "./b3.ts";
import { clause as b4 } from "./b4.ts";
import { clause as b5 } from "./b5.ts";
import { clause as b6 } from "./b6.ts";
import { clause as b7 } from "./b7.ts";
import { clause as b8 } from "./b8.ts";
import { clause as b9 } from "./b9.ts";
import { clause as b10 } from "./b10.ts";
import { clause as b11 } from "./b11.ts";
import { clause as c1 } from "./c1.ts";
import { clause as c2 } from "./c2.ts";
import { clause as c3 } from "./c3.ts";
import { clause as c4 } from "./c4.ts";
import { clause as c5 } from "./c5.ts";
import { clause as c6 } from "./c6.ts";
import { clause as c7 } from "./c7.ts";
import { clause as c8 } from "./c8.ts";
import { clause as d1 } from "./d1.ts";
import { clause as d2 } from "./d2.ts";
import { clause as d3 } from "./d3.ts";
import { clause as d4 } from "./d4.ts";
import { clause as d5 } from "./d5.ts";
import { clause as e1 } from "./e1.ts";
import { clause as e2 } from "./e2.ts";
import { clause as e3 } from "./e3.ts";
import { clause as e4 } from "./e4.ts";
import { clause as e5 } from "./e5.ts";
import { clause as e6 } from "./e6.ts";
import { clause as f1 } from "./f1.ts";
import { clause as f2 } from "./f2.ts";
import { clause as f3 } from "./f3.ts";
import { clause as f4 } from "./f4.ts";
import { clause as f5 } from "./f5.ts";
import { clause as f6 } from "./f6.ts";
import { clause as g1 } from "./g1.ts";
import { clause as g2 } from "./g2.ts";
import { clause as g3 } from "./g3.ts";
import { clause as g4 } from "./g4.ts";
import { clause as g5 } from "./g5.ts";
import { clause as g6 } from "./g6.ts";
import { clause as g7 } from "./g7.ts";
import { clause as g8 } from "./g8.ts";
import { clause as g9 } from "./g9.ts";
import type { Clause, ClauseId } from "./clause.ts";

export const CLAUSES: Readonly<Record<ClauseId, Clause>> = {
  A1: a1,
  A2: a2,
  A3: a3,
  A4: a4,
  A5: a5,
  A6: a6,
  A7: a7,
  A8: a8,
  A9: a9,
  B1: b1,
  B2: b2,
  B3: b3,
  B4: b4,
  B5: b5,
  B6: b6,
  B7: b7,
  B8: b8,
  B9: b9,
  B10: b10,
  B11: b11,
  C1: c1,
  C2: c2,
  C3: c3,
  C4: c4,
  C5: c5,
  C6: c6,
  C7: c7,
  C8: c8,
  D1: d1,
  D2: d2,
  D3: d3,
  D4: d4,
  D5: d5,
  E1: e1,
  E2: e2,
  E3: e3,
  E4: e4,
  E5: e5,
  E6: e6,
  F1: f1,
  F2: f2,
  F3: f3,
  F4: f4,
  F5: f5,
  F6: f6,
  G1: g1,
  G2: g2,
  G3: g3,
  G4: g4,
  G5: g5,
  G6: g6,
  G7: g7,
  G8: g8,
  G9: g9,
};
