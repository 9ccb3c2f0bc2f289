// What was seen of one stop under attack, and what the contract says of it. A row of an attack carries its limits as data: so many at
// most of each measure, or a tenth of what the control had. Whatever it allows, no row allows these:

/** Limits in words, as a share of what the control shows. */
export const SHARES = { "a tenth of the control's": 0.1 };

/** What no attack may do to a service on the library, whatever else a row allows. */
export const NEVER = { executedTwice: 0, lostExecuted: 0, truncated: 0 };

/** The measures that every table shows, and how a limit of them reads. */
export const MEASURES = {
  exposed: "requests exposed",
  lost: "lost",
  lostExecuted: "lost although executed",
  executedTwice: "executed twice",
  truncated: "cut and taken for whole",
};

/** Adds up what several stops have shown. `more` are further measures of this attack alone. */
export function sumUp(stops) {
  const sum = { exposed: 0, lost: 0, lostExecuted: 0, executedTwice: 0, truncated: 0, more: {} };
  for (const one of stops) {
    for (const name of Object.keys(MEASURES)) sum[name] += one[name] ?? 0;
    for (const [name, value] of Object.entries(one.more ?? {}))
      sum.more[name] = (sum.more[name] ?? 0) + value;
  }
  return sum;
}

/** What the ids say: `asked` has the fate of each, `executed` is the service's own list. */
export function joined(asked, executed) {
  const times = new Map();
  for (const id of executed) times.set(id, (times.get(id) ?? 0) + 1);
  const lost = asked.filter(({ fate }) => fate.kind === "lost");
  return {
    exposed: asked.filter(({ fate }) => fate.kind !== "told").length,
    lost: lost.length,
    lostExecuted: lost.filter(({ id }) => times.has(id)).length,
    executedTwice: [...times.values()].filter((count) => count > 1).length,
    truncated: 0,
  };
}

export function valueOf(seen, measure) {
  const value = Object.hasOwn(MEASURES, measure) ? seen[measure] : seen.more[measure];
  if (typeof value !== "number") throw new Error(`Nobody has measured "${measure}".`);
  return value;
}

function limitOf(limit, control, measure) {
  if (typeof limit === "number") return limit;
  const share = SHARES[limit];
  if (share === undefined) throw new Error(`"${limit}" is no limit.`);
  return Math.floor(valueOf(control, measure) * share);
}

/** Kept in words: `lost: 3, where the contract allows 0`. Empty when nothing forbidden was seen. */
export function brokenBy({ limits }, lastcall, control) {
  return Object.entries({ ...NEVER, ...limits }).flatMap(([measure, limit]) => {
    const value = valueOf(lastcall, measure);
    const most = limitOf(limit, control, measure);
    return value > most
      ? [`${MEASURES[measure] ?? measure}: ${value}, where the contract allows ${most}`]
      : [];
  });
}

/**
 * Why the row proves nothing; empty when its control was hurt. `hurts` is what the attack must do to the control: so much at least of
 * one measure.
 */
export function blindBecause({ hurts }, control) {
  return Object.entries(hurts).flatMap(([measure, least]) => {
    const value = valueOf(control, measure);
    return value >= least
      ? []
      : [
          `the control shows ${value} of "${MEASURES[measure] ?? measure}", and ${least} at least were needed`,
        ];
  });
}
