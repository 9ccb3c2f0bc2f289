/** A baseline: findings that are known and accepted for now. They are told by rule, file and line text, not by number. */

import type { Finding } from "./finding.ts";
import { lineOf, lineText } from "./source.ts";

export interface Baseline {
  readonly schema: "lastcall.baseline/1";
  readonly findings: readonly {
    readonly rule: string;
    readonly file: string;
    readonly text: string;
    readonly count: number;
  }[];
}

function keyOf(rule: string, file: string, text: string): string {
  return `${rule}\u0000${file}\u0000${text}`;
}

function textOf({ at }: Finding): string {
  return lineText(at.source, lineOf(at)).trim();
}

export function makeBaseline(findings: readonly Finding[]): Baseline {
  const counts = new Map<string, { rule: string; file: string; text: string; count: number }>();
  for (const finding of findings) {
    const { rule, at } = finding;
    const text = textOf(finding);
    const key = keyOf(rule, at.source.path, text);
    const known = counts.get(key);
    counts.set(key, { rule, file: at.source.path, text, count: (known?.count ?? 0) + 1 });
  }
  return { schema: "lastcall.baseline/1", findings: [...counts.values()] };
}

/** The findings that the baseline does not hold. */
export function beyond(findings: readonly Finding[], baseline: Baseline): readonly Finding[] {
  const left = new Map(
    baseline.findings.map(({ rule, file, text, count }) => [keyOf(rule, file, text), count]),
  );
  return findings.filter((finding) => {
    const key = keyOf(finding.rule, finding.at.source.path, textOf(finding));
    const count = left.get(key) ?? 0;
    left.set(key, count - 1);
    return count <= 0;
  });
}
