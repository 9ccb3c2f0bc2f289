/** Parts of a verdict as half a sentence each. */

import type { Bound, Http2Verdict, KindTally, WebSocketVerdict, WitnessVerdict } from "../verdict/verdict.ts";

/** Counts stand here as in the table beside them, without commas. */
export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** `19 closed door, 1 in-flight cut`, or nothing. */
export function kindsInWords(kinds: readonly KindTally[]): string {
  return kinds
    .filter(({ count }) => count > 0)
    .map(({ count, title, id }) => `${count} ${title.toLowerCase()} (${id})`)
    .join(", ");
}

/** `0 of 21 requests to a leaving copy were lost: below 14 % ...`, of what it counts and what became of the bad ones. */
export function boundInWords({ bad, of, upper95 }: Bound, counted: string, became: string): string {
  if (upper95 === null) {
    return `no ${counted}: nothing is known of them`;
  }
  const told = `${bad} of ${of} ${counted} ${became}`;
  if (upper95 >= 1) {
    return bad === 0 ? `${told}: too few for a bound (--repeat N)` : told;
  }
  return `${told}: below ${boundShare(upper95)} with 95 % confidence`;
}

/** With fewer digits than a share that was measured. */
export function boundShare(share: number): string {
  const value = share * 100;
  return `${value >= 10 ? value.toFixed(0) : value >= 1 ? value.toFixed(1) : value.toPrecision(2)} %`;
}

/** `36 200, 1 connect ECONNREFUSED`. */
export function countsInWords(counts: Readonly<Record<string, number>>): string {
  const entries = Object.entries(counts).filter(([, count]) => count > 0);
  return entries.length === 0 ? "none" : entries.map(([name, count]) => `${count} ${name}`).join(", ");
}

export function witnessInWords(seen: WitnessVerdict): string {
  const lost = [
    [seen.lostBeforeWork, "before work"],
    [seen.lostDuringWork, "during work"],
    [seen.lostAfterWork, "after work"],
  ] as const;
  const words = lost.filter(([count]) => count > 0).map(([count, when]) => `${count} lost ${when}`);
  const twice = [
    ...(seen.begunTwice > 0 ? [`${seen.begunTwice} begun twice`] : []),
    ...(seen.executedTwice.length > 0 ? [`${seen.executedTwice.length} executed twice`] : []),
  ];
  const all = [...words, ...twice];
  return `${plural(seen.arrivals, "arrival")} at the copies${all.length === 0 ? "" : `: ${all.join(", ")}`}`;
}

export function webSocketsInWords(seen: WebSocketVerdict): string {
  const codes = Object.entries(seen.closeCodes).map(([code, count]) => `${count} told to go with ${code}`);
  const ends = [
    ...codes,
    ...(seen.cameBack > 0 ? [`${seen.cameBack} came back`] : []),
    ...(seen.cut > 0 ? [`${seen.cut} cut without a close frame`] : []),
  ];
  const unanswered = [
    ...(seen.crossed > 0 ? [`${seen.crossed} crossed a close frame`] : []),
    ...(seen.unanswered > 0 ? [`${seen.unanswered} unanswered`] : []),
  ];
  const said = [`${plural(seen.messages, "message")}, ${seen.answered} answered`, ...unanswered].join(", ");
  return `${[`${seen.opened} of ${seen.asked} opened`, ...ends].join(", ")}; ${said}`;
}

export function http2InWords({ sent, failed, refused }: Http2Verdict): string {
  const safe = refused === 0 ? "" : `, ${refused} of them refused and safe to send again`;
  return `${plural(sent, "request")}, ${failed} without an answer${safe}`;
}
