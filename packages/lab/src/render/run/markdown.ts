/** A judged run as the comment on a pull request: the verdict, the numbers that decide, and one worked example of each kind. */

import type { RunReport } from "../../report/run-report.ts";
import { controlInWords, trialInWords } from "../../verdict/reruns.ts";
import type { Verdict } from "../../verdict/verdict.ts";
import { duration, grouped, percent, plural } from "../numbers.ts";
import { subtitleOf, titleOf } from "../words.ts";

/** In a table cell or a heading nothing may open another element. */
function cell(text: string): string {
  return text
    .replaceAll("\\", "\\\\")
    .replaceAll(/([|`*_[\]<>#])/g, String.raw`\$1`)
    .replaceAll(/\s+/g, " ");
}

function numbers(verdict: Verdict): readonly (readonly [string, string])[] {
  const { requests, latency, restarts, bounds } = verdict;
  const upper = bounds.perExposed.upper95;
  return [
    ["requests", grouped(requests.sent)],
    ["restarts", grouped(restarts.length)],
    ["lost", grouped(requests.byHarm.lost)],
    ["truncated", grouped(requests.byHarm.truncated)],
    ["duplicated", grouped(requests.byHarm.duplicated)],
    ["masked by a retry", grouped(requests.byHarm.masked)],
    ["slowed", grouped(requests.byHarm.slowed)],
    ["loss rate below (95 %)", upper === null ? "-" : percent(upper)],
    ["p99", duration(latency.p99)],
    ["slowest", duration(latency.max)],
  ];
}

function kindTable({ kinds }: Verdict): readonly string[] {
  if (kinds.length === 0) {
    return [];
  }
  return [
    "",
    "| | what went wrong | why | what to change |",
    "| ---: | --- | --- | --- |",
    ...kinds.map(({ count, title, id, why, advice }) => {
      const name = `${title} (${id})`;
      return `| ${count === 0 ? "" : grouped(count)} | **${cell(name)}** | ${cell(why)} | ${cell(advice)} |`;
    }),
    "",
    "<details><summary>One of each, request by request</summary>",
    "",
    ...kinds.flatMap(({ title, examples }) =>
      examples
        .slice(0, 1)
        .map(
          ({ request, evidence }) =>
            `- **${cell(title)}**: ${cell(`${request.method} ${request.path}`)} (${cell(request.id)}): ${cell(evidence)}`,
        ),
    ),
    "",
    "</details>",
  ];
}

/** What reruns say: with which factor the failures vanish, and whether the lab sees losses here. */
function proof({ trials, controls }: Verdict): readonly string[] {
  const lines = [
    ...trials.map((trial) => `- explained: ${cell(trialInWords(trial))}`),
    ...controls.map((control) => `- control: ${cell(controlInWords(control))}`),
  ];
  return lines.length === 0 ? [] : ["", ...lines];
}

export function reportMarkdown({ verdict, warnings }: RunReport, before: RunReport | null): string {
  const sign = { pass: "✅", fail: "❌", invalid: "⚠️" }[verdict.outcome];
  const own = numbers(verdict);
  const other = before === null ? [] : numbers(before.verdict);
  const table =
    before === null
      ? [
          `| ${own.map(([name]) => name).join(" | ")} |`,
          `| ${own.map(() => "---:").join(" | ")} |`,
          `| ${own.map(([, value]) => value).join(" | ")} |`,
        ]
      : [
          "| | before | after |",
          "| --- | ---: | ---: |",
          ...own.map(([name, value], index) => `| ${name} | ${other[index]?.[1] ?? "-"} | **${value}** |`),
        ];
  const { drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs } = verdict.advice.settings;
  const settings = Object.entries({ drainDelayMs, gracefulTimeoutMs, teardownTimeoutMs, gracePeriodMs })
    .flatMap(([name, ms]) => (ms === null ? [] : [`\`${name}: ${ms}\``]))
    .join(", ");
  const { scenario, router, parameters } = verdict.run;
  const rate = parameters["ratePerSecond"];
  return [
    `### ${sign} lastcall: ${cell(titleOf(verdict))}`,
    "",
    cell(subtitleOf(verdict)),
    ...warnings.map((warning) => `\n> ${cell(warning)}`),
    "",
    ...table,
    ...kindTable(verdict),
    ...proof(verdict),
    "",
    ...(settings === "" ? [] : [`Measured numbers ask for ${settings}.`, ""]),
    `<sub>${cell(scenario)} · ${cell(router)}${typeof rate === "number" ? ` · ${rate} requests/s` : ""} · ${plural(verdict.restarts.length, "restart")}</sub>`,
    "",
  ].join("\n");
}
