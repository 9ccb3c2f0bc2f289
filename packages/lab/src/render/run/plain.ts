/** A judged run in a screen of text: what `lastcall report LEDGER` says where no other form is asked for. */

import type { RunReport } from "../../report/run-report.ts";
import { controlInWords, trialInWords } from "../../verdict/reruns.ts";
import { duration, grouped, percent, plural } from "../numbers.ts";
import { wrapText, type Style } from "../style.ts";

const WIDTH = 80;
const INDENT = " ".repeat(14);

export function reportText(
  { verdict, warnings }: RunReport,
  style: Style,
  before: RunReport | null = null,
): string {
  const { outcome, requests, latency, kinds, restarts, bounds, advice, run } = verdict;
  const tone = { pass: style.green, fail: style.red, invalid: style.yellow }[outcome];
  const sign = { pass: "✓", fail: "✗", invalid: "!" }[outcome];
  const line = (name: string, text: string): string =>
    `${style.dim(name.padEnd(INDENT.length))}${wrapText(text, WIDTH, INDENT).trimStart()}`;
  const { bad, of, upper95: upper } = bounds.perExposed;
  const { drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs } = advice.settings;
  const settings = Object.entries({ drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs })
    .flatMap(([name, ms]) => (ms === null ? [] : [`${name} ${ms}`]))
    .join(", ");
  return [
    tone(wrapText(`${sign} ${verdict.headline}`, WIDTH, "")),
    "",
    ...(before === null ? [] : [line("before", before.verdict.headline)]),
    ...warnings.map((warning) => line("partial", warning)),
    line("run", `${run.scenario}, ${run.router}, ${plural(restarts.length, "restart")}, ${run.at}`),
    line(
      "requests",
      `${grouped(requests.sent)}: ${grouped(requests.get.sent)} GET (${grouped(requests.get.failed)} failed), ${grouped(requests.post.sent)} POST (${grouped(requests.post.failed)} failed)`,
    ),
    line(
      "latency",
      `median ${duration(latency.p50)}, p99 ${duration(latency.p99)}, slowest ${duration(latency.max)}`,
    ),
    ...kinds.flatMap((kind) => [
      "",
      line((kind.count === 0 ? "found" : grouped(kind.count)).padStart(7), `${kind.title} (${kind.id})`),
      line("", kind.why),
      line("", kind.advice),
      ...kind.examples.slice(0, 1).map((one) => line("", `for example ${one.request.id}: ${one.evidence}`)),
    ]),
    "",
    ...verdict.trials.map((trial, index) => line(index === 0 ? "explained" : "", trialInWords(trial))),
    ...verdict.controls.map((control, index) => line(index === 0 ? "controls" : "", controlInWords(control))),
    ...(upper === null || upper >= 1
      ? []
      : [
          line(
            "bound",
            `${bad > 0 ? `${bad} of ${of} seen, ` : ""}below ${percent(upper)} of requests to a leaving copy are lost, with 95 % confidence`,
          ),
        ]),
    ...(settings === "" ? [] : [line("would set", settings)]),
    "",
  ].join("\n");
}
