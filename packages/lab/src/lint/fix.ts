/** Applies the certain fixes to text; edits that overlap wait for the next run. */

import type { Edit, Finding } from "./finding.ts";
import type { Source } from "./source.ts";

export interface FixedFile {
  readonly source: Source;
  readonly text: string;
  readonly applied: readonly Finding[];
}

export function applyFixes(findings: readonly Finding[]): readonly FixedFile[] {
  const byFile = new Map<Source, Finding[]>();
  for (const finding of findings) {
    const source = finding.fix?.edits[0]?.at.source;
    if (source !== undefined) {
      byFile.set(source, [...(byFile.get(source) ?? []), finding]);
    }
  }
  return [...byFile].map(([source, list]) => fixOne(source, list));
}

function fixOne(source: Source, findings: readonly Finding[]): FixedFile {
  const chosen: Edit[] = [];
  const applied: Finding[] = [];
  for (const finding of findings) {
    const edits = finding.fix?.edits ?? [];
    const free = edits.every(
      ({ at }) =>
        at.source === source && chosen.every((other) => at.end < other.at.start || at.start > other.at.end),
    );
    if (free) {
      chosen.push(...edits);
      applied.push(finding);
    }
  }
  let { text } = source;
  for (const { at, text: replacement } of chosen.toSorted((left, right) => right.at.start - left.at.start)) {
    text = text.slice(0, at.start) + replacement + text.slice(at.end);
  }
  return { source, text, applied };
}

/** The change as a unified difference of whole lines, without context. */
export function difference({ source, text }: FixedFile): string {
  const before = source.text.split("\n");
  const after = text.split("\n");
  const lines = [`--- ${source.path}`, `+++ ${source.path}`];
  // Fixes change lines in place: none is added or taken away.
  for (const [index, line] of before.entries()) {
    if (after[index] !== line) {
      lines.push(`@@ line ${index + 1} @@`, `-${line}`, `+${after[index] ?? ""}`);
    }
  }
  return `${lines.join("\n")}\n`;
}
