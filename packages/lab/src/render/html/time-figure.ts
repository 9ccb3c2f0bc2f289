/**
 * The large picture: failures by kind, latency, every copy with its phases, and who answered, all over one time axis. Its
 * shapes are placed in percent, so it fits any width without a script, and zooming is a change of two attributes.
 */

import { LEVELS, msOf, type Columns } from "../../report/columns.ts";
import type { Lane, Moment } from "../../report/lanes.ts";
import type { RunReport } from "../../report/run-report.ts";
import { powerLabel, timeTicks } from "./axis.ts";
import { densityUrl, failuresUrl } from "./density.ts";
import { badge, mark } from "./kinds.ts";
import { escape, place, span } from "./markup.ts";
import { grouped, percent } from "../numbers.ts";

/** Up to here the good requests are dots; above, a density. */
const DOTS = 3000;
/** Up to here failures are marks in the latency picture; above, cells. */
const MARKS = 2000;
const LATENCY_HEIGHT = 220;
const STRIP_HEIGHT = 16;
const LANE_HEIGHT = 34;
const SHARE_HEIGHT = 84;
/** With more restarts in view only their signals are marked; zooming in (browser/page.ts) brings the rest back. */
const CROWDED = 24;
/** Positions along a strip that can be told apart on a wide screen. */
const STRIP_COLUMNS = 2000;

/** One line of the figure: a label and a plot whose contents zoom. */
function row(
  label: string,
  height: number,
  still: string,
  zooming: string,
  name: string,
  front = "",
): string {
  return `<div class="row ${name}"><div class="label">${label}</div><svg class="plot" height="${height}" aria-hidden="true">${still}<svg class="zoom" x="0" y="0" width="100%" height="${height}">${zooming}</svg>${front}</svg></div>`;
}

/** A strip for each kind. Marks that would stand on the same point of the widest screen are drawn once. */
function strips(report: RunReport): string {
  const { columns, window, verdict } = report;
  const lengthMs = window.toMs - window.fromMs;
  const seen = verdict.kinds.map(() => new Set<number>());
  for (let index = 0; index < columns.count; index += 1) {
    const kind = columns.kind[index] ?? 0;
    if (kind > 0) {
      seen[kind - 1]?.add(Math.round((msOf(columns, index) / lengthMs) * STRIP_COLUMNS));
    }
  }
  return verdict.kinds
    .map(({ title, count }, index) => {
      if (count === 0) {
        return "";
      }
      const marks = [...(seen[index] ?? [])]
        .map((at) => mark(index, `${Number((at / (STRIP_COLUMNS / 100)).toFixed(2))}%`, STRIP_HEIGHT / 2))
        .join("");
      const label = `<a href="#kind-${index}">${badge(index)}${escape(title)}</a> <b>${grouped(count)}</b>`;
      return row(label, STRIP_HEIGHT, "", marks, "strip");
    })
    .join("");
}

function latencyY(level: number): number {
  return Number((LATENCY_HEIGHT * (1 - level / (LEVELS - 1))).toFixed(1));
}

function dots(columns: Columns, lengthMs: number, wanted: (kind: number) => boolean): string {
  const parts: string[] = [];
  for (let index = 0; index < columns.count; index += 1) {
    const kind = columns.kind[index] ?? 0;
    if (wanted(kind)) {
      const x = place(msOf(columns, index), 0, lengthMs);
      const y = latencyY(columns.level[index] ?? 0);
      parts.push(kind === 0 ? `<circle cx="${x}" cy="${y}" r="1.7"/>` : mark(kind - 1, x, y));
    }
  }
  return parts.join("");
}

function image(url: string): string {
  return `<image href="${url}" width="100%" height="100%" preserveAspectRatio="none"/>`;
}

function latency(report: RunReport): string {
  const { columns, window, verdict, bad } = report;
  const lengthMs = window.toMs - window.fromMs;
  const { fromPower, toPower } = columns.scale;
  const lines: string[] = [];
  const labels: string[] = [];
  for (let power = fromPower; power <= toPower; power += 1) {
    const y = LATENCY_HEIGHT * (1 - (power - fromPower) / (toPower - fromPower));
    lines.push(`<line class="rule" x1="0" x2="100%" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}"/>`);
    labels.push(`<text class="tick" x="2" y="${Math.max(10, y - 4).toFixed(1)}">${powerLabel(power)}</text>`);
  }
  const good =
    columns.count - bad.length <= DOTS
      ? `<g class="dots">${dots(columns, lengthMs, (kind) => kind === 0)}</g>`
      : image(densityUrl(columns, window));
  const failed =
    bad.length <= MARKS
      ? dots(columns, lengthMs, (kind) => kind > 0)
      : image(failuresUrl(columns, window, verdict.kinds.length));
  const label = `<span>Latency</span><small>from the intended time, log scale</small>`;
  return row(label, LATENCY_HEIGHT, lines.join(""), `${good}${failed}`, "latency", labels.join(""));
}

/** How high each phase stands: a stop goes down the stairs, with or without colours. */
const STAIRS: Readonly<Record<string, readonly [top: number, height: number]>> = {
  starting: [16, 8],
  serving: [4, 20],
  "lame-duck": [4, 20],
  draining: [11, 13],
  teardown: [17, 7],
  down: [22.5, 1.5],
};

export function bandRects(lane: Pick<Lane, "bands">, from: number, to: number): string {
  return lane.bands
    .filter((band) => band.toMs > from && band.fromMs < to)
    .map(({ phase, copy, fromMs, toMs }) => {
      const [top, height] = STAIRS[phase] ?? [0, 0];
      const box = `${span(fromMs, toMs, from, to)} y="${top}" height="${height}"`;
      const title = `<title>${escape(copy ?? "no copy")}: ${phase.replace("-", " ")}</title>`;
      const hatch = phase === "lame-duck" || phase === "starting" ? `<rect ${box} fill="url(#hatch)"/>` : "";
      return `<rect class="p-${phase}" ${box}>${title}</rect>${hatch}`;
    })
    .join("");
}

/** One under the other: a signal and the answer to it are often a moment apart. */
const MOMENT_Y: Readonly<Record<Moment["kind"], number>> = { signal: 8, kill: 8, "not-ready": 21, exit: 22 };

function laneRow(lane: Lane, from: number, to: number): string {
  const listed = lane.listed
    .filter((one) => one.toMs > from && one.fromMs < to)
    .map(
      (one) =>
        `<rect class="listed" ${span(one.fromMs, one.toMs, from, to)} y="28" height="2.5"><title>the router sends to ${escape(one.copy)}</title></rect>`,
    );
  const moments = lane.moments
    .filter(({ atMs }) => atMs >= from && atMs <= to)
    .map(
      ({ atMs, kind, text }) =>
        `<use class="m-${kind}" href="#m-${kind}" x="${place(atMs, from, to)}" y="${MOMENT_Y[kind]}"><title>${escape(text)}</title></use>`,
    );
  const contents = `${bandRects(lane, from, to)}${listed.join("")}${moments.join("")}`;
  return row(`<span>${escape(lane.name)}</span>`, LANE_HEIGHT, "", contents, "lane");
}

/** The router: its reloads, and each moment at which its error log has something to say. */
function routerRow(report: RunReport): string {
  const { fromMs, toMs } = report.window;
  const inside = (atMs: number): boolean => atMs >= fromMs && atMs <= toMs;
  const reloads = report.timeline.reloadsMs
    .filter(inside)
    .map(
      (atMs) =>
        `<use class="m-reload" href="#m-reload" x="${place(atMs, fromMs, toMs)}" y="8"><title>reload</title></use>`,
    );
  const lines = new Set(
    report.log.filter(({ atMs }) => inside(atMs)).map(({ atMs }) => place(atMs, fromMs, toMs)),
  );
  const ticks = [...lines].map((x) => `<line class="logline" x1="${x}" x2="${x}" y1="12" y2="20"/>`);
  const base = `<rect class="listed" x="0" width="100%" y="15" height="2"/>`;
  const words = [
    ...(reloads.length > 0 ? [`${grouped(reloads.length)} reloads`] : []),
    ...(report.log.length > 0 ? [`${grouped(report.log.length)} error lines`] : []),
  ].join(", ");
  const label = `<span>router</span><small>${words === "" ? escape(report.verdict.run.router) : words}</small>`;
  return row(label, 24, "", `${base}${ticks.join("")}${reloads.join("")}`, "lane router");
}

/** Areas on top of each other, each place's share named at its side. */
function sharePlot(report: RunReport): string {
  const { places, most, sliceMs } = report.shares;
  if (places.length === 0) {
    return "";
  }
  const slices = places[0]?.slices.length ?? 0;
  const base = new Float64Array(slices);
  const areas = places.map((one, index) => {
    const lower = [...base];
    one.slices.forEach((count, slice) => (base[slice] = (base[slice] ?? 0) + count));
    const y = (value: number): string => (SHARE_HEIGHT * (1 - value / most)).toFixed(1);
    // Steps, not slopes: each slice is a count.
    const up = [...base].map((value, slice) => `${slice} ${y(value)} ${slice + 1} ${y(value)}`).join(" ");
    const down = lower.map((value, slice) => `${slice + 1} ${y(value)} ${slice} ${y(value)}`).toReversed();
    return `<polygon class="s${index % 6}" points="${up} ${down.join(" ")}"/>`;
  });
  const rate = (most / sliceMs) * 1000;
  const label = `<span>Who answered</span><small>up to ${grouped(rate)} a second</small>${places
    .map(
      (one, index) =>
        `<small class="who"><i class="s${index % 6}"></i>${escape(one.name)} <b>${percent(one.share)}</b></small>`,
    )
    .join("")}`;
  const still = `<line class="rule" x1="0" x2="100%" y1=".5" y2=".5"/>`;
  const contents = `<svg width="100%" height="${SHARE_HEIGHT}" viewBox="0 0 ${slices} ${SHARE_HEIGHT}" preserveAspectRatio="none">${areas.join("")}</svg>`;
  return row(label, SHARE_HEIGHT, still, contents, "share");
}

const LEGEND = `<p class="legend"><span><i class="p-serving"></i>serving</span><span><i class="p-lame-duck"></i>lame duck</span><span><i class="p-draining"></i>draining</span><span><i class="p-teardown"></i>teardown</span><span><i class="p-down"></i>down</span><span><i class="p-starting"></i>starting</span><span><i class="listed"></i>the router sends here</span><span><svg width="12" height="12" viewBox="-6 -9 12 12"><use class="m-signal" href="#m-signal"/></svg>stop signal</span><span><svg width="12" height="12" viewBox="-6 -9 12 12"><use class="m-kill" href="#m-kill"/></svg>SIGKILL</span><span><svg width="12" height="12" viewBox="-6 -9 12 12"><use class="m-not-ready" href="#m-not-ready"/></svg>not ready</span><span><svg width="8" height="12" viewBox="-4 -8 8 12"><use class="m-exit" href="#m-exit"/></svg>exit</span><span><svg width="12" height="12" viewBox="-6 -7 12 12"><use class="m-reload" href="#m-reload"/></svg>router reload</span></p>`;

/** Shown by the script, which makes it true. */
const KEYS = `<p class="keys" hidden>Click the picture, then <kbd>+</kbd> <kbd>−</kbd> or the wheel to zoom, <kbd>←</kbd> <kbd>→</kbd> or drag to move, <kbd>n</kbd> <kbd>p</kbd> for the next and the previous failure, <kbd>0</kbd> for all.</p>`;

export function timeFigure(report: RunReport): string {
  const { fromMs, toMs } = report.window;
  const lengthMs = toMs - fromMs;
  const restarts = report.timeline.restarts.length;
  const ticks = timeTicks(0, lengthMs, 6);
  const lines = ticks.map(({ atMs }) => {
    const x = place(atMs, 0, lengthMs);
    return `<line x1="${x}" x2="${x}" y1="0" y2="100%"/>`;
  });
  const labels = ticks.map(({ atMs, label }, index) => {
    const end = index === ticks.length - 1 && atMs / lengthMs > 0.96;
    const anchor = index === 0 && atMs === 0 ? "start" : end ? "end" : "middle";
    return `<text x="${place(atMs, 0, lengthMs)}" y="14" text-anchor="${anchor}">${label}</text>`;
  });
  const lanes = report.lanes.map((lane) => laneRow(lane, fromMs, toMs)).join("");
  const title = "Failures, latency, copies and router over time";
  return `<div class="figure${restarts > CROWDED ? " busy" : ""}" id="time" tabindex="0" role="group" aria-label="${title}. With a script: plus and minus zoom, arrows move, 0 shows all, n goes to the next failure." data-length="${lengthMs}" data-restarts="${restarts}">
<svg class="grid" aria-hidden="true">${lines.join("")}</svg>
${strips(report)}${latency(report)}${routerRow(report)}${lanes}${sharePlot(report)}
<div class="row axis"><div class="label"><small>time since the load began</small></div><svg class="plot ticks" height="20" aria-hidden="true">${labels.join("")}</svg></div>
<div class="cursor" hidden></div></div>${LEGEND}${KEYS}`;
}
