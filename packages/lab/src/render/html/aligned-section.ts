/** All restarts on one axis that begins at their stop signals: what one picture over time scatters, this one shows as a pattern. */

import { bandsOf } from "../../report/lanes.ts";
import type { RunReport } from "../../report/run-report.ts";
import type { RestartSpan } from "../../verdict/timeline.ts";
import { timeTicks } from "./axis.ts";
import { mark } from "./kinds.ts";
import { escape, place, rasterPlace, span } from "./markup.ts";
import { grouped, plural } from "../numbers.ts";

/** More rows than this are a wall, not a picture: those with failures come first. */
const ROWS = 120;
const BEFORE_MS = 500;
const SLICES = 100;
const COUNT_HEIGHT = 44;

export interface AlignedRestart {
  readonly index: number;
  readonly span: RestartSpan;
  /** Failures that belong to it: milliseconds since its signal, and index of the kind. */
  readonly bad: readonly { readonly sinceMs: number; readonly kind: number }[];
}

export function alignedRestarts(report: RunReport): readonly AlignedRestart[] {
  const kindIndex = new Map(report.verdict.kinds.map(({ slug }, index) => [slug, index]));
  const piles = report.timeline.restarts.map((): { sinceMs: number; kind: number }[] => []);
  for (const { restart, sinceSignalMs, kind } of report.bad) {
    if (restart !== null && sinceSignalMs !== null) {
      piles[restart]?.push({ sinceMs: sinceSignalMs, kind: kindIndex.get(kind) ?? 0 });
    }
  }
  return report.timeline.restarts.map((one, index) => ({ index, span: one, bad: piles[index] ?? [] }));
}

/** Up to where: the slowest restart that is not far out of line. */
function reach(restarts: readonly AlignedRestart[]): number {
  const ends = restarts
    .map(({ span: { life, replacement, endMs }, bad }) => {
      const end = replacement?.addedMs ?? life.exitMs ?? (Number.isFinite(endMs) ? endMs : life.signalMs);
      return Math.max(
        end - life.signalMs,
        (life.removedMs ?? 0) - life.signalMs,
        ...bad.slice(0, 1000).map(({ sinceMs }) => sinceMs),
      );
    })
    .toSorted((a, b) => a - b);
  const usual = ends[Math.floor((ends.length - 1) * 0.95)] ?? 1000;
  return Math.max(500, Math.min(ends.at(-1) ?? 1000, usual * 1.5)) * 1.06;
}

function countsPlot(restarts: readonly AlignedRestart[], from: number, to: number): string {
  const counts = Array.from({ length: SLICES }, () => 0);
  for (const { bad } of restarts) {
    for (const { sinceMs } of bad) {
      const slice = Math.floor(((sinceMs - from) / (to - from)) * SLICES);
      const kept = Math.max(0, Math.min(SLICES - 1, slice));
      counts[kept] = (counts[kept] ?? 0) + 1;
    }
  }
  const most = Math.max(...counts);
  if (most === 0) {
    return "";
  }
  const bars = counts.map((count, slice) => {
    const height = (COUNT_HEIGHT - 12) * (count / most);
    return count === 0
      ? ""
      : `<rect class="k" x="${slice}%" width="0.8%" y="${(COUNT_HEIGHT - height).toFixed(1)}" height="${height.toFixed(1)}"/>`;
  });
  const peak = `<text class="tick" x="2" y="9">at most ${grouped(most)} in ${Math.round((to - from) / SLICES)} ms</text>`;
  return `<div class="row"><div class="label"><span>all failures</span></div><svg class="plot" height="${COUNT_HEIGHT}" aria-hidden="true">${bars.join("")}${peak}</svg></div>`;
}

/** A label at the edge stays inside. */
function anchorAt(share: number): string {
  return share < 0.03 ? "start" : share > 0.97 ? "end" : "middle";
}

function restartRow(
  one: AlignedRestart,
  report: RunReport,
  from: number,
  to: number,
  height: number,
): string {
  const { life, replacement } = one.span;
  const told = report.verdict.run.parameters["drainDelayMs"];
  const lastEndMs = report.lanes
    .flatMap(({ bands }) => bands)
    .find(({ copy, phase }) => copy === life.name && phase === "draining")?.toMs;
  const bands = [life, ...(replacement === null ? [] : [replacement])].flatMap((copy) =>
    bandsOf(copy, typeof told === "number" ? told : 0, copy === life ? (lastEndMs ?? -1) : -1),
  );
  const rects = bands
    .map((band) => ({ ...band, fromMs: band.fromMs - life.signalMs, toMs: band.toMs - life.signalMs }))
    .filter((band) => band.toMs > from && band.fromMs < to)
    .map(({ phase, fromMs, toMs }) => {
      const box = `${span(fromMs, toMs, from, to)} y="${(height * 0.12).toFixed(1)}" height="${(height * 0.76).toFixed(1)}"`;
      const hatch = phase === "lame-duck" || phase === "starting" ? `<rect ${box} fill="url(#hatch)"/>` : "";
      return `<rect class="p-${phase}" ${box}><title>${phase.replace("-", " ")}</title></rect>${hatch}`;
    });
  const removed =
    life.removedMs === null
      ? ""
      : `<line class="out" x1="${place(life.removedMs - life.signalMs, from, to)}" x2="${place(life.removedMs - life.signalMs, from, to)}" y1="0" y2="${height}"/>`;
  const marks = new Set(
    one.bad
      .filter(({ sinceMs }) => sinceMs >= from && sinceMs <= to)
      .map(({ sinceMs, kind }) => mark(kind, rasterPlace(sinceMs, from, to), height / 2)),
  );
  const label =
    height < 12
      ? ""
      : `<span>${escape(life.name)}</span>${replacement === null ? "" : ` <small>→ ${escape(replacement.name)}</small>`}${one.bad.length === 0 ? "" : ` <b>${grouped(one.bad.length)}</b>`}`;
  return `<div class="row restart"><div class="label">${label}</div><svg class="plot" height="${height}" aria-hidden="true">${rects.join("")}${removed}${[...marks].join("")}</svg></div>`;
}

export function alignedSection(report: RunReport): string {
  const all = alignedRestarts(report);
  if (all.length === 0) {
    return "";
  }
  let before = 0;
  for (const { bad } of all) {
    for (const { sinceMs } of bad) {
      before = Math.min(before, sinceMs);
    }
  }
  const from = -Math.max(BEFORE_MS, Math.min(5000, -before * 1.1));
  const to = reach(all);
  const shown = (
    all.length <= ROWS ? all : all.toSorted((a, b) => b.bad.length - a.bad.length).slice(0, ROWS)
  ).toSorted((a, b) => a.index - b.index);
  const height = shown.length <= 16 ? 22 : shown.length <= 50 ? 14 : 8;
  const rows = shown.map((one) => restartRow(one, report, from, to, height)).join("");
  const ticks = timeTicks(from, to, 7);
  const lines = ticks.map(
    ({ atMs }) =>
      `<line${atMs === 0 ? ' class="zero"' : ""} x1="${place(atMs, from, to)}" x2="${place(atMs, from, to)}" y1="0" y2="100%"/>`,
  );
  const labels = ticks.map(
    ({ atMs, label }) =>
      `<text x="${place(atMs, from, to)}" y="14" text-anchor="${anchorAt((atMs - from) / (to - from))}">${atMs === 0 ? "t0" : label.startsWith("-") ? `−${label.slice(1)}` : `+${label}`}</text>`,
  );
  const left =
    all.length > shown.length
      ? ` The ${grouped(all.length - shown.length)} with the fewest failures are not drawn; the bars count all.`
      : "";
  const thin = height < 12 ? " dense" : "";
  return `<section id="restarts"><h2>Every restart, from its stop signal</h2><p class="lead">${plural(all.length, "restart")}, aligned at t0. The vertical tick is the moment in which the router had let go of the copy.${left}</p>
<div class="figure aligned${thin}"><svg class="grid" aria-hidden="true">${lines.join("")}</svg>${countsPlot(all, from, to)}${rows}<div class="row axis"><div class="label"><small>since the stop signal</small></div><svg class="plot ticks" height="20" aria-hidden="true">${labels.join("")}</svg></div></div></section>`;
}
