/**
 * What a loop of looks says about a restart: the losses by kind, the windows in which they fall, and how long the router
 * went on sending to an instance that was leaving. Pure.
 */

import { withMargin } from "../verdict/advice.ts";
import type { Look } from "./look.ts";

export const LOSS_KINDS = {
  refused: {
    title: "connection refused",
    why: "nobody listened: there was no router in between or it was gone, or a balancer of layer 4 passed on an instance's refusal",
  },
  "no-connection": {
    title: "no connection",
    why: "the connection could not be made: the name, the network or TLS",
  },
  "bad-gateway-at-once": {
    title: "502 at once",
    why: "the router was refused by an instance that it still listed: its drain delay is shorter than the router's lag",
  },
  "bad-gateway-late": {
    title: "502 after a while",
    why: "an instance ended while it worked on the request: it does not finish what it has",
  },
  unavailable: {
    title: "503",
    why: "an instance refused while the router still sent to it, or the router knew no instance",
  },
  "gateway-timeout": {
    title: "504",
    why: "an instance took the request and did not answer in the router's time",
  },
  "server-error": { title: "other 5xx", why: "an instance answered with an error of its own" },
  cut: { title: "cut before an answer", why: "the connection was closed or reset without an answer" },
  truncated: { title: "truncated", why: "an answer began and did not end" },
  timeout: { title: "no answer in time", why: "nothing came within the time limit of the loop" },
} as const;
export type LossKind = keyof typeof LOSS_KINDS;

export interface LossTally {
  readonly kind: LossKind;
  readonly title: string;
  readonly why: string;
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Losses without a quiet time between them. */
export interface LossWindow {
  /** When the first and the last of them were sent. */
  readonly fromMs: number;
  readonly toMs: number;
  readonly count: number;
}

/** When somebody said that the stop begins. */
export interface Mark {
  readonly atMs: number;
  readonly what: string;
}

export interface LagOfMark extends Mark {
  /** From the mark to the last sign that the router still sent to the leaving instance; null: no sign after the mark. */
  readonly lagMs: number | null;
  readonly sign: string;
}

export interface InstanceSeen {
  readonly name: string;
  readonly answers: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

export interface LagFindings {
  readonly sent: number;
  readonly good: number;
  readonly lost: number;
  readonly slow: number;
  readonly heldBack: number;
  readonly slowLimitMs: number | null;
  readonly losses: readonly LossTally[];
  readonly windows: readonly LossWindow[];
  readonly marks: readonly LagOfMark[];
  readonly instances: readonly InstanceSeen[];
  /** The router's lag: exact after a mark; else at least this, the length of the longest window of losses. Null: no sign. */
  readonly lagMs: number | null;
  readonly lagIs: "measured" | "at least" | "unknown";
  /** Every connection was refused for a while and none was answered: no router was there that could have had a lag. */
  readonly nobodyListened: boolean;
  /** Two requests to one instance are this far apart: no time is known better. */
  readonly resolutionMs: number;
  /** Something was seen to leave: losses, an instance that went while another came, or a mark. */
  readonly restartSeen: boolean;
  readonly drainDelayMs: number | null;
}

/** A quiet time that ends a window of losses. */
export const QUIET_MS = 3000;
/** A 502 in less than this beyond a round trip is the router's own word that nobody was there. */
const AT_ONCE_MS = 50;
const SLOW_OVER_BASELINE_MS = 1000;

export function lossOf(look: Look): LossKind | null {
  const { status, error, connectMs } = look;
  if (error === "TIMEOUT") {
    return "timeout";
  }
  if (error !== null) {
    if (status !== null) {
      return "truncated";
    }
    return connectMs !== null ? "cut" : error === "ECONNREFUSED" ? "refused" : "no-connection";
  }
  switch (status) {
    case 502:
      return look.endedMs - look.sentMs < AT_ONCE_MS + 2 * (connectMs ?? 0)
        ? "bad-gateway-at-once"
        : "bad-gateway-late";
    case 503:
      return "unavailable";
    case 504:
      return "gateway-timeout";
    default:
      return (status ?? 0) >= 500 ? "server-error" : null;
  }
}

/** Whether all losses are refused connections with no answer between them: behind a balancer another instance would answer some. */
function isOneGap(looks: readonly Look[], lost: readonly (readonly [Look, LossKind])[]): boolean {
  const fromMs = lost[0]?.[0].sentMs ?? 0;
  const toMs = lost.at(-1)?.[0].sentMs ?? 0;
  const within = looks.filter(({ sentMs }) => sentMs >= fromMs && sentMs <= toMs);
  return within.length === lost.length && lost.every(([, kind]) => kind === "refused");
}

function tally(lost: readonly (readonly [Look, LossKind])[]): readonly LossTally[] {
  return (Object.keys(LOSS_KINDS) as readonly LossKind[])
    .flatMap((kind): readonly LossTally[] => {
      const own = lost.filter(([, of]) => of === kind).map(([look]) => look.sentMs);
      return own.length === 0
        ? []
        : [
            {
              kind,
              ...LOSS_KINDS[kind],
              count: own.length,
              firstMs: Math.min(...own),
              lastMs: Math.max(...own),
            },
          ];
    })
    .toSorted((a, b) => b.count - a.count);
}

function windowsOf(lost: readonly Look[]): readonly LossWindow[] {
  const windows: { fromMs: number; toMs: number; count: number }[] = [];
  for (const { sentMs } of lost) {
    const last = windows.at(-1);
    if (last === undefined || sentMs - last.toMs > QUIET_MS) {
      windows.push({ fromMs: sentMs, toMs: sentMs, count: 1 });
    } else {
      last.toMs = sentMs;
      last.count += 1;
    }
  }
  return windows;
}

function instancesOf(looks: readonly Look[]): readonly InstanceSeen[] {
  const seen = new Map<string, { name: string; answers: number; firstMs: number; lastMs: number }>();
  for (const { instance, sentMs } of looks) {
    if (instance !== null) {
      const one = seen.get(instance) ?? { name: instance, answers: 0, firstMs: sentMs, lastMs: sentMs };
      one.answers += 1;
      one.lastMs = sentMs;
      seen.set(instance, one);
    }
  }
  return [...seen.values()];
}

function quantile(values: readonly number[], share: number): number | null {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? null;
}

export interface LagRun {
  /** In the order of their sending. */
  readonly looks: readonly Look[];
  readonly marks: readonly Mark[];
  readonly ratePerSecond: number;
  readonly heldBack: number;
  readonly endMs: number;
}

export function findingsOf(run: LagRun): LagFindings {
  const looks = run.looks.toSorted((a, b) => a.sentMs - b.sentMs);
  const lost = looks.flatMap((look) => {
    const kind = lossOf(look);
    return kind === null ? [] : [[look, kind] as const];
  });
  const windows = windowsOf(lost.map(([look]) => look));
  const instances = instancesOf(looks);
  const everyMs = 1000 / run.ratePerSecond;
  // As many as serve at one time, at least two: a router takes turns.
  const atATime = Math.max(
    2,
    instances.filter((one) => one.firstMs < (run.marks[0]?.atMs ?? run.endMs)).length,
  );
  const resolutionMs = everyMs * atATime;
  // An instance has left when its turns have passed it by for a while before the end.
  const hasLeft = (one: InstanceSeen): boolean =>
    one.answers > 1 && run.endMs - one.lastMs > Math.max(1000, 5 * resolutionMs);
  const marks = run.marks.map((mark, index): LagOfMark => {
    const untilMs = run.marks[index + 1]?.atMs ?? Number.POSITIVE_INFINITY;
    const within = (ms: number): boolean => ms >= mark.atMs && ms < untilMs;
    const lastLost = lost.map(([look]) => look.sentMs).findLast(within);
    const leaving = instances.filter((one) => one.firstMs < mark.atMs && hasLeft(one) && within(one.lastMs));
    const lastAnswer = leaving.length === 0 ? undefined : Math.max(...leaving.map(({ lastMs }) => lastMs));
    const lastMs = Math.max(lastLost ?? -Infinity, lastAnswer ?? -Infinity);
    return {
      ...mark,
      lagMs: lastMs === -Infinity ? null : lastMs - mark.atMs,
      sign:
        lastMs === -Infinity
          ? "no request met a leaving instance"
          : lastMs === lastLost
            ? "the last loss"
            : "its last answer",
    };
  });
  const measured = marks.flatMap(({ lagMs }) => (lagMs === null ? [] : [lagMs]));
  const longest = windows.length === 0 ? null : Math.max(...windows.map(({ fromMs, toMs }) => toMs - fromMs));
  const lagMs = measured.length > 0 ? Math.max(...measured) : longest;
  const good = looks.length - lost.length;
  const nobodyListened = lost.length > 1 && isOneGap(looks, lost);
  const firstBadMs = Math.min(lost[0]?.[0].sentMs ?? Infinity, run.marks[0]?.atMs ?? Infinity);
  const baseline = quantile(
    looks.filter((look) => look.endedMs < firstBadMs).map((look) => look.endedMs - look.dueMs),
    0.99,
  );
  const slowLimitMs = baseline === null ? null : baseline + SLOW_OVER_BASELINE_MS;
  const lostLooks = new Set(lost.map(([look]) => look));
  const slow = looks.filter(
    (look) => !lostLooks.has(look) && slowLimitMs !== null && look.endedMs - look.dueMs > slowLimitMs,
  ).length;
  return {
    sent: looks.length,
    good,
    lost: lost.length,
    slow,
    heldBack: run.heldBack,
    slowLimitMs,
    losses: tally(lost),
    windows,
    marks,
    instances,
    lagMs,
    lagIs: measured.length > 0 ? "measured" : longest === null ? "unknown" : "at least",
    resolutionMs,
    nobodyListened,
    restartSeen: lost.length > 0 || marks.length > 0 || instances.some(hasLeft),
    // What lies between two looks counts as well.
    drainDelayMs: lagMs === null || nobodyListened ? null : withMargin(lagMs + resolutionMs),
  };
}
