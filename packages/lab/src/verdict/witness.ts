/** What the witness saw, joined with what the clients got, as the verdict tells it. */

import type { Collection } from "./collection.ts";
import type { BadRequest, WitnessVerdict } from "./verdict.ts";

/** Null when there was no witness. */
export function witnessVerdict(
  { witnessed, witnesses, store }: Collection,
  bad: readonly BadRequest[],
): WitnessVerdict | null {
  if (!witnessed) {
    return null;
  }
  const lost = bad.filter(({ harm }) => harm === "lost" || harm === "truncated");
  const seen = lost.map(({ request }) => witnesses.arrivals(request.id) ?? { worked: 0, answered: 0 });
  return {
    arrivals: witnesses.count(),
    lostBeforeWork: seen.filter(({ worked }) => worked === 0).length,
    lostDuringWork: seen.filter(({ worked, answered }) => worked > 0 && answered === 0).length,
    lostAfterWork: seen.filter(({ worked, answered }) => worked > 0 && answered > 0).length,
    begunTwice: witnesses.begunTwice(),
    executedTwice: [...witnesses.answeredTwice()].filter((id) => store.isPost(id)),
  };
}
