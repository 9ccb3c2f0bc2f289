/** The whole report as one file: it needs no network, and no script for anything but zooming. */

import { packColumns } from "../../report/packed.ts";
import type { RunReport } from "../../report/run-report.ts";
import { titleOf } from "../words.ts";
import { alignedSection } from "./aligned-section.ts";
import { compareSection } from "./compare-section.ts";
import { definitions, lookOf } from "./kinds.ts";
import { kindsSection } from "./kinds-section.ts";
import { escape } from "./markup.ts";
import { plural } from "../numbers.ts";
import { proofSection } from "./proof-section.ts";
import { blindSection, settingsSection } from "./settings-section.ts";
import { STYLE_SHEET } from "./style-sheet.ts";
import { timeFigure } from "./time-figure.ts";
import { verdictSection } from "./verdict-section.ts";

/** `19 May 2026, 21:55 UTC`; as it stands where it is no date. */
function when(at: string): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? at : `${date.toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function masthead({ verdict }: RunReport): string {
  const { run } = verdict;
  const { copies, ratePerSecond, propagationMs, signal } = run.parameters;
  const facts = [
    run.router,
    ...(typeof copies === "number" ? [plural(copies, "copy", "copies")] : []),
    ...(typeof ratePerSecond === "number" ? [`${ratePerSecond} requests/s`] : []),
    ...(typeof signal === "string" ? [signal] : []),
    ...(typeof propagationMs === "number" ? [`router lag ${propagationMs / 1000} s`] : []),
    when(run.at),
  ];
  return `<header><p class="brand">lastcall <span>${escape(run.scenario)}</span></p><p class="facts">${facts.map((fact) => `<span>${escape(fact)}</span>`).join("")}</p></header>`;
}

/** What the script needs to draw: numbers, and the names for its read-out. */
function packed(report: RunReport): string {
  const { columns, verdict, lanes } = report;
  const head = {
    count: columns.count,
    scale: columns.scale,
    kinds: verdict.kinds.map(({ title }, index) => ({
      title,
      shape: lookOf(index).shape,
      colour: lookOf(index).colour.slice(0, 3),
    })),
    places: lanes.map(({ name }) => name),
  };
  // A "<" in a name must not end the element.
  const json = JSON.stringify(head).replaceAll("<", "\\u003c");
  return `<script type="application/json" id="head">${json}</script><script type="application/octet-stream" id="packed">${packColumns(columns)}</script>`;
}

export interface PageParts {
  readonly report: RunReport;
  readonly before: RunReport | null;
  /** The compiled browser/page.js. */
  readonly script: string;
}

export function renderPage({ report, before, script }: PageParts): string {
  const { verdict } = report;
  const kinds =
    before !== null && before.verdict.kinds.length > verdict.kinds.length
      ? before.verdict.kinds
      : verdict.kinds;
  const command =
    verdict.run.command.length === 0
      ? ""
      : `<p>Service: <code>${escape(verdict.run.command.join(" "))}</code></p>`;
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark"><meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; style-src 'unsafe-inline'; script-src 'unsafe-inline'"><title>${escape(titleOf(verdict))} - lastcall</title>
<style>${STYLE_SHEET}</style></head><body>${definitions(kinds)}
<main>${masthead(report)}
${verdictSection(report)}
${before === null ? "" : compareSection(before, report)}
<section id="over-time"><div class="head"><h2>Over time</h2><div class="tools" hidden><span class="readout" aria-live="polite"></span><button type="button" data-do="in" aria-label="zoom in">+</button><button type="button" data-do="out" aria-label="zoom out">−</button><button type="button" data-do="next" title="next failure (n)">next failure</button><button type="button" data-do="all" title="show all (0)">all</button></div></div>
${timeFigure(report)}</section>
${kindsSection(report)}
${proofSection(report)}
${alignedSection(report)}
${settingsSection(report)}
${blindSection(report)}
<footer><p>Made from the run's ledger by <code>lastcall report</code>. Latency counts from when a request should have been sent. Draining ends with the last request that a copy answered; the drain delay is what the lab told it.</p>${command}</footer></main>
${packed(report)}
<script type="module">${script}</script></body></html>
`;
}
