/** B9: a TLS socket is a socket: B1 to B8 are judged again over TLS. */

import type { Clause, Judgement, Measured, Need } from "./clause.ts";
import { clause as b1 } from "./b1.ts";
import { clause as b2 } from "./b2.ts";
import { clause as b3 } from "./b3.ts";
import { clause as b4 } from "./b4.ts";
import { clause as b5 } from "./b5.ts";
import { clause as b6 } from "./b6.ts";
import { clause as b7 } from "./b7.ts";
import { clause as b8 } from "./b8.ts";
import { missing } from "./court.ts";
import type { Subject } from "./subject.ts";

const NEEDS: readonly Need[] = ["modes.tls", "routes.ordinary", "routes.slow", "settings.drainDelay"];

async function judge(subject: Subject): Promise<Judgement> {
  const lacking = missing(subject, NEEDS);
  if (lacking !== null) {
    return { kind: "not judged", why: `the description names no ${lacking}` };
  }
  const overTls: Subject = {
    ...subject,
    name: `${subject.name} over TLS`,
    tls: true,
    env: { ...subject.env, ...subject.modes.tls },
  };
  const measured: Record<string, Measured[string]> = {};
  for (const pair of [
    [b1, b2],
    [b3, b4],
    [b5, b6],
    [b7, b8],
  ]) {
    // Two at a time: more would be load for the times of each other.
    const judgements = await Promise.all(pair.map((clause) => clause.judge(overTls)));
    for (const [n, judgement] of judgements.entries()) {
      const id = pair[n]?.id ?? "";
      if (judgement.kind === "broken") {
        return { ...judgement, reason: `Over TLS, ${id}: ${judgement.reason}` };
      }
      measured[id] = judgement.kind;
    }
  }
  return { kind: "kept", measured };
}

export const clause: Clause = {
  id: "B9",
  level: "core",
  title: "the same holds over TLS",
  needs: NEEDS,
  judge,
};
