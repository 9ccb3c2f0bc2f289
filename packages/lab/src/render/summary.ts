/**
 * What a pipeline shows of a run: the JSON that `rollout`, `prove`, `lab` and `lag` print, as Markdown for
 * `$GITHUB_STEP_SUMMARY`. Pure; a document of another schema is refused by name.
 */

import type { LagFindings } from "../lag/findings.ts";
import { LabError } from "../errors.ts";
import type { Check } from "../experiments/judgement.ts";
import { controlInWords, trialInWords } from "../verdict/reruns.ts";
import type { Verdict } from "../verdict/verdict.ts";

interface RolloutDocument {
  readonly schema: "lastcall.rollout/1";
  readonly exitCode: number;
  readonly rows: readonly {
    readonly scenario: string;
    readonly title: string;
    readonly mustShow: string;
    readonly shown: boolean;
    readonly why: string | null;
    readonly sent: number;
    readonly getFailed: number;
    readonly postFailed: number;
    readonly slow: number;
    readonly slowestMs: number | null;
    readonly verdict: Pick<Verdict, "headline" | "outcome" | "kinds" | "bounds" | "advice" | "run"> &
      // Documents of before it was there have none.
      Partial<Pick<Verdict, "trials" | "controls">>;
  }[];
}

interface ProofDocument {
  readonly schema: "lastcall.proof/1";
  readonly subject: string;
  readonly tookMs: number;
  readonly counts: { readonly kept: number; readonly broken: number; readonly notJudged: number };
  readonly clauses: readonly {
    readonly id: string;
    readonly title: string;
    readonly kind: string;
    readonly reason?: string;
    readonly todo?: string;
  }[];
}

interface LabDocument {
  readonly schema: "lastcall.lab/1";
  readonly experiment: string;
  readonly shows: boolean | null;
  readonly line: string;
  readonly checks: readonly Check[];
}

type LagDocument = LagFindings & {
  readonly schema: "lastcall.lag/1";
  readonly url: string;
  readonly exitCode: number;
};

export type SummaryDocument = RolloutDocument | ProofDocument | LabDocument | LagDocument;

const SIGN = { good: "✅", bad: "❌", open: "➖" } as const;
const ADVICE_SHOWN = 3;

/** Text from a service must not become Markdown of ours. */
function cell(text: string): string {
  return text.replaceAll(/[\\|<>`*_[\]]/g, String.raw`\$&`).replaceAll(/\s*\n\s*/g, " ");
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)];
}

function rollout({ rows, exitCode }: RolloutDocument): readonly string[] {
  const invalid = rows.some(({ verdict }) => verdict.outcome === "invalid");
  const good = rows.filter(({ shown }) => shown).length;
  const sign = invalid ? SIGN.open : exitCode === 0 ? SIGN.good : SIGN.bad;
  const [first] = rows;
  const lines = [
    `### ${sign} lastcall rollout: ${rows.length === 1 ? cell(first?.verdict.headline ?? "") : `${good} of ${rows.length} rows as they must be`}`,
    "",
    ...(first === undefined ? [] : [`Behind ${cell(first.verdict.run.router)}.`, ""]),
    ...table(
      ["", "row", "sent", "failed GET", "failed POST", "slow", "slowest", "why not"],
      rows.map((row) => [
        row.verdict.outcome === "invalid" ? SIGN.open : row.shown ? SIGN.good : SIGN.bad,
        `${cell(row.scenario)}: ${cell(row.title)}`,
        String(row.sent),
        String(row.getFailed),
        String(row.postFailed),
        String(row.slow),
        row.slowestMs === null ? "-" : `${(row.slowestMs / 1000).toFixed(2)} s`,
        cell(row.why ?? ""),
      ]),
    ),
  ];
  const kinds = rows.filter(({ shown }) => !shown).flatMap(({ verdict }) => verdict.kinds);
  if (kinds.length > 0) {
    lines.push(
      "",
      ...table(
        ["lost to", "", "why", "what to change"],
        kinds.map((kind) => [
          `${cell(kind.title)} (${kind.id})`,
          String(kind.count),
          cell(kind.why),
          cell(kind.advice),
        ]),
      ),
    );
  }
  const reruns = rows.flatMap(({ verdict }) => [
    ...(verdict.trials ?? []).map((trial) => `- explained: ${cell(trialInWords(trial))}`),
    ...(verdict.controls ?? []).map((control) => `- control: ${cell(controlInWords(control))}`),
  ]);
  lines.push(...(reruns.length === 0 ? [] : ["", ...reruns]));
  const told = new Set(kinds.map(({ advice }) => advice));
  const steps = rows.filter(({ shown }) => !shown).flatMap(({ verdict }) => verdict.advice.steps);
  for (const step of steps.filter((one) => !told.has(one)).slice(0, ADVICE_SHOWN)) {
    lines.push("", `- ${cell(step)}`);
  }
  const zero = rows.find(({ shown, verdict }) => shown && verdict.bounds.perRestart.bad === 0);
  const upper = zero?.verdict.bounds.perRestart.upper95 ?? null;
  if (zero !== undefined && upper !== null) {
    const { of } = zero.verdict.bounds.perRestart;
    lines.push(
      "",
      upper >= 0.5
        ? `None in ${of} restarts proves little; more of them (\`--repeat\`) prove more.`
        : `None in ${of} restarts: at most ${(upper * 100).toFixed(0)} % with 95 % confidence.`,
    );
  }
  return lines;
}

function proof({ subject, counts, clauses, tookMs }: ProofDocument): readonly string[] {
  const { kept, broken, notJudged } = counts;
  const bad = clauses.filter(({ kind }) => kind === "broken");
  return [
    `### ${broken === 0 ? SIGN.good : SIGN.bad} lastcall prove: ${kept} kept, ${broken} broken, ${notJudged} not judged`,
    "",
    `${cell(subject)}, in ${(tookMs / 1000).toFixed(1)} s.`,
    ...(bad.length === 0
      ? []
      : [
          "",
          ...table(
            ["clause", "what it promises", "seen", "what to do"],
            bad.map(({ id, title, reason = "", todo = "" }) => [id, cell(title), cell(reason), cell(todo)]),
          ),
        ]),
    "",
    `<details><summary>${clauses.length} clauses</summary>`,
    "",
    ...clauses.map(
      ({ id, title, kind }) =>
        `- ${kind === "kept" ? SIGN.good : kind === "broken" ? SIGN.bad : SIGN.open} ${id} ${cell(title)}`,
    ),
    "",
    "</details>",
  ];
}

function lab({ experiment, shows, line, checks }: LabDocument): readonly string[] {
  const sign = (holds: boolean | null): string => (holds === null ? SIGN.open : holds ? SIGN.good : SIGN.bad);
  return [
    `### ${sign(shows)} lastcall lab ${cell(experiment)}`,
    "",
    cell(line),
    "",
    ...table(
      ["", "what it must show", "seen"],
      checks.map(({ claim, seen, holds }) => [sign(holds), cell(claim), cell(seen)]),
    ),
  ];
}

function lag(found: LagDocument): readonly string[] {
  const { url, sent, lost, lagMs, lagIs, drainDelayMs, losses, restartSeen } = found;
  const known =
    lagMs === null ? "not seen" : `${lagIs === "at least" ? "at least " : ""}${(lagMs / 1000).toFixed(2)} s`;
  return [
    `### ${restartSeen ? (lost === 0 ? SIGN.good : SIGN.bad) : SIGN.open} lastcall lag: ${lost} of ${sent} requests lost`,
    "",
    `${cell(url)}; the router's lag: ${known}${drainDelayMs === null ? "" : `; a drain delay of ${drainDelayMs} ms would cover it`}.`,
    ...(losses.length === 0
      ? []
      : [
          "",
          ...table(
            ["lost", "", "why"],
            losses.map(({ title, count, why }) => [cell(title), String(count), cell(why)]),
          ),
        ]),
  ];
}

/** Throws `LAB_LEDGER_SCHEMA` for a document that none of the commands writes. */
export function summaryOf(text: string): string {
  let document: { readonly schema?: unknown };
  try {
    document = JSON.parse(text) as typeof document;
  } catch (cause) {
    throw new LabError(
      "LAB_LEDGER_SCHEMA",
      "What is to be summed up is no JSON.",
      "Give what `lastcall rollout --json` or `lastcall prove --json` has printed.",
      { cause },
    );
  }
  const known = document as SummaryDocument;
  const render = (): readonly string[] => {
    switch (known.schema) {
      case "lastcall.rollout/1":
        return rollout(known);
      case "lastcall.proof/1":
        return proof(known);
      case "lastcall.lab/1":
        return lab(known);
      case "lastcall.lag/1":
        return lag(known);
      default:
        throw new LabError(
          "LAB_LEDGER_SCHEMA",
          `A document of the schema ${JSON.stringify(document.schema ?? null)} cannot be summed up.`,
          "Known are lastcall.rollout/1, lastcall.proof/1, lastcall.lab/1 and lastcall.lag/1.",
        );
    }
  };
  return `${render().join("\n")}\n`;
}
