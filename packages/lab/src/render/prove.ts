/** A proof as people read it on a terminal, as JSON, as JUnit and as Markdown. */

import type { Judgement } from "../contract/clause.ts";
import { countJudgements, type Proof, type Proven } from "../prove/prove.ts";
import { wrapText, type Style } from "./style.ts";
import { xml } from "./xml.ts";

const CHAPTERS: Readonly<Record<string, string>> = {
  A: "Leaving the router first",
  B: "Finishing what was accepted",
  C: "The deadline",
  D: "Work after the response",
  E: "Saying what happened",
  F: "Protocols",
  G: "The process",
};

const WIDTH = 100;
const TRACE_ENTRIES = 14;

function figures(judgement: Judgement): string {
  return judgement.kind === "not judged"
    ? ""
    : Object.entries(judgement.measured)
        .map(([name, value]) => `${name} ${value}`)
        .join(", ");
}

/** The end of the trace is where it broke. */
function traceLines(judgement: Judgement): readonly string[] {
  if (judgement.kind !== "broken") {
    return [];
  }
  const shown = judgement.trace.slice(-TRACE_ENTRIES);
  const left = judgement.trace.length - shown.length;
  return [
    ...(left > 0 ? [`(${left} earlier entries)`] : []),
    ...shown.map(
      (entry) =>
        `${entry.atMs.toFixed(1).padStart(9)} ms  ${entry.what.padEnd(9)} ${entry.bytes > 0 ? `${entry.bytes} B  ` : ""}${entry.text}`,
    ),
  ];
}

function explained({ judgement }: Proven, style: Style): readonly string[] {
  if (judgement.kind !== "broken") {
    return [];
  }
  const measured = figures(judgement);
  return [
    wrapText(judgement.reason, WIDTH, "       "),
    ...(measured === "" ? [] : [style.dim(wrapText(measured, WIDTH, "       "))]),
    ...traceLines(judgement).map((line) => style.dim(`       ${line}`.slice(0, WIDTH + 20))),
    style.bold(wrapText(judgement.todo, WIDTH, "       ").replace("       ", "    →  ")),
  ];
}

const SIGNS = { kept: "✓", broken: "✗", "not judged": "·" } as const;
const TONES = { kept: "green", broken: "red", "not judged": "dim" } as const;

/** A clause and what became of it in one line, however long. */
export function renderLine({ clause, judgement }: Proven, style: Style): string {
  return `${style[TONES[judgement.kind]](SIGNS[judgement.kind])} ${clause.id.padEnd(4)} ${clause.title}`;
}

function renderProven(one: Proven, style: Style): string {
  const [title = "", ...more] = wrapText(one.clause.title, WIDTH, " ".repeat(9)).split("\n");
  const head = renderLine({ ...one, clause: { ...one.clause, title: title.trimStart() } }, style);
  return [`  ${head}`, ...more, ...explained(one, style)].join("\n");
}

/** What was not judged, one line for each reason. */
function silences(proven: readonly Proven[]): readonly string[] {
  const byWhy = new Map<string, string[]>();
  for (const { clause, judgement } of proven) {
    if (judgement.kind === "not judged") {
      byWhy.set(judgement.why, [...(byWhy.get(judgement.why) ?? []), clause.id]);
    }
  }
  return [...byWhy].map(([why, ids]) =>
    wrapText(`${ids.join(" ")} not judged: ${why}`, WIDTH, "    ").replace("    ", "  · "),
  );
}

/** How requests were made long, where the service has no route for it. */
function substitute({ subject, proven }: Proof): readonly string[] {
  const { slow, upload, bulk } = subject.routes;
  if (slow !== undefined || (upload === undefined && bulk === undefined)) {
    return [];
  }
  const how = upload === undefined ? "reading its answer late" : "holding half of its body back";
  const by = proven.filter(
    ({ clause, judgement }) =>
      (clause.needs.includes("routes.slow") || clause.needs.includes("longRequest")) &&
      judgement.kind !== "not judged",
  );
  return by.length === 0
    ? []
    : [
        wrapText(
          `No slow route: in ${by.map(({ clause }) => clause.id).join(" ")} a request was made long by ${how}, so a handler at work was not seen.`,
          WIDTH,
          "",
        ),
      ];
}

/** Where to say more, if saying more would have more judged. */
function described({ proven, hasLibraryUnsaid = false }: Proof): readonly string[] {
  const whys = proven.flatMap(({ judgement }) => (judgement.kind === "not judged" ? [judgement.why] : []));
  const notes = [
    ...(hasLibraryUnsaid && whys.length > 0
      ? [
          'It runs with lastcall: with --library lastcall (or "library": "lastcall" in lastcall.config.json) its settings, record and exit codes are known, and more is judged.',
        ]
      : []),
    ...(whys.some((why) => why.startsWith("the description names no"))
      ? [
          'What the description does not name is not judged: name it under "prove" in lastcall.config.json (or by a flag, see --help).',
        ]
      : []),
  ];
  return notes.map((note) => wrapText(note, WIDTH, ""));
}

export function renderProof(proof: Proof, style: Style): string {
  const out: string[] = [];
  for (const [letter, chapter] of Object.entries(CHAPTERS)) {
    const proven = proof.proven.filter(({ clause }) => clause.id.startsWith(letter));
    if (proven.length > 0) {
      const judged = proven.filter(({ judgement }) => judgement.kind !== "not judged");
      out.push(
        "",
        style.bold(`${letter}. ${chapter}`),
        ...judged.map((one) => renderProven(one, style)),
        ...silences(proven).map((line) => style.dim(line)),
      );
    }
  }
  const { kept, broken, notJudged } = countJudgements(proof);
  const summary = `${kept} kept, ${broken} broken, ${notJudged} not judged`;
  const notes = [...substitute(proof), ...described(proof)];
  out.push(
    ...(notes.length > 0 ? ["", ...notes.map(style.dim)] : []),
    "",
    `${broken > 0 ? style.red(summary) : style.green(summary)} ${style.dim(`in ${(proof.tookMs / 1000).toFixed(1)} s: ${proof.subject.name}`)}`,
  );
  return `${out.join("\n")}\n`;
}

export function proofJson(proof: Proof, exitCode: number): string {
  return `${JSON.stringify(
    {
      schema: "lastcall.proof/1",
      subject: proof.subject.name,
      command: proof.subject.command,
      tookMs: Math.round(proof.tookMs),
      counts: countJudgements(proof),
      exitCode,
      clauses: proof.proven.map(({ clause, judgement, tookMs }) => ({
        id: clause.id,
        level: clause.level,
        title: clause.title,
        tookMs: Math.round(tookMs),
        ...judgement,
      })),
    },
    null,
    2,
  )}\n`;
}

export function proofJunit(proof: Proof): string {
  const { broken, notJudged } = countJudgements(proof);
  const cases = proof.proven.map((one) => {
    const { clause, judgement, tookMs } = one;
    const open = `    <testcase classname="contract.${clause.level}" name="${xml(`${clause.id} ${clause.title}`)}" time="${(tookMs / 1000).toFixed(3)}"`;
    switch (judgement.kind) {
      case "kept":
        return `${open}/>`;
      case "not judged":
        return `${open}><skipped message="${xml(judgement.why)}"/></testcase>`;
      case "broken":
        return `${open}><failure message="${xml(judgement.reason)}">${xml([judgement.todo, figures(judgement), ...traceLines(judgement)].join("\n"))}</failure></testcase>`;
    }
  });
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    "<testsuites>",
    `  <testsuite name="${xml(`lastcall prove: ${proof.subject.name}`)}" tests="${proof.proven.length}" failures="${broken}" skipped="${notJudged}" time="${(proof.tookMs / 1000).toFixed(3)}">`,
    ...cases,
    "  </testsuite>",
    "</testsuites>",
    "",
  ].join("\n");
}

export function proofMarkdown(proof: Proof): string {
  const { kept, broken, notJudged } = countJudgements(proof);
  const cell = (text: string): string => text.replaceAll("|", "\\|").replaceAll("\n", " ");
  return [
    `### lastcall prove: ${kept} kept, ${broken} broken, ${notJudged} not judged`,
    "",
    "| | clause | what it promises | seen |",
    "| --- | --- | --- | --- |",
    ...proof.proven.map(({ clause, judgement }) => {
      const sign = { kept: "✅", broken: "❌", "not judged": "➖" }[judgement.kind];
      const seen =
        judgement.kind === "kept"
          ? figures(judgement)
          : judgement.kind === "broken"
            ? `**${judgement.reason}** ${judgement.todo}`
            : `not judged: ${judgement.why}`;
      return `| ${sign} | ${clause.id} | ${cell(clause.title)} | ${cell(seen)} |`;
    }),
    "",
  ].join("\n");
}
