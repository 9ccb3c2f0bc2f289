/** The axes: round numbers along time, powers of ten along latency. */

const STEPS_S = [
  0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1200, 1800,
  3600, 7200, 14_400,
];

export interface Tick {
  readonly atMs: number;
  readonly label: string;
}

function label(ms: number, stepMs: number): string {
  const seconds = ms / 1000;
  if (stepMs >= 60_000 || seconds >= 120) {
    const minutes = Math.floor(seconds / 60);
    return `${minutes}:${String(Math.round(seconds - minutes * 60)).padStart(2, "0")}`;
  }
  const digits = stepMs >= 1000 ? 0 : stepMs >= 100 ? 1 : stepMs >= 10 ? 2 : 3;
  return seconds.toFixed(digits);
}

/** At most `most` ticks; times are since the window's start. The last one names the unit. */
export function timeTicks(fromMs: number, toMs: number, most: number): readonly Tick[] {
  const stepS = STEPS_S.find((step) => (toMs - fromMs) / 1000 / step <= most) ?? 28_800;
  const stepMs = stepS * 1000;
  const ticks: Tick[] = [];
  for (let n = Math.ceil(fromMs / stepMs); n * stepMs <= toMs + 1e-6; n += 1) {
    const text = label(n * stepMs, stepMs);
    ticks.push({ atMs: n * stepMs, label: text.includes(":") ? text : `${text} s` });
  }
  return ticks;
}

export function powerLabel(power: number): string {
  const ms = 10 ** power;
  return ms >= 1000 ? `${ms / 1000} s` : `${ms >= 1 ? ms : ms.toFixed(-power)} ms`;
}
