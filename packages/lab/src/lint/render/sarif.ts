/** SARIF 2.1.0: what GitHub code scanning and other viewers read. */

import type { Finding, Rule } from "../finding.ts";
import { type Place, position } from "../source.ts";

const LEVELS = { error: "error", warning: "warning", info: "note" } as const;

export function renderSarif(findings: readonly Finding[], rules: readonly Rule[], version: string): string {
  const used = rules.filter(({ id }) => findings.some(({ rule }) => rule === id));
  const log = {
    $schema: "https://json.schemastore.org/sarif-2.1.0.json",
    version: "2.1.0",
    runs: [
      {
        tool: {
          driver: {
            name: "lastcall",
            version,
            rules: used.map(({ id, summary, why, severity }) => ({
              id,
              shortDescription: { text: summary },
              fullDescription: { text: why },
              help: { text: `docs/rules/${id}.md, or: lastcall lint --explain ${id}` },
              defaultConfiguration: { level: LEVELS[severity] },
            })),
          },
        },
        columnKind: "utf16CodeUnits",
        results: findings.map((finding) => ({
          ruleId: finding.rule,
          ruleIndex: used.findIndex(({ id }) => id === finding.rule),
          level: LEVELS[finding.severity],
          message: { text: [finding.message, ...(finding.details ?? []), finding.why].join("\n") },
          locations: [location(finding.at)],
          relatedLocations: (finding.related ?? []).map(({ message, at }) => ({
            ...location(at),
            message: { text: message },
          })),
          ...(finding.fix === undefined ? {} : { fixes: [fixOf(finding.fix)] }),
        })),
      },
    ],
  };
  return `${JSON.stringify(log, null, 2)}\n`;
}

function uri(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

function region(at: Place): object {
  const start = position(at.source, at.start);
  const end = position(at.source, at.end);
  return { startLine: start.line, startColumn: start.column, endLine: end.line, endColumn: end.column };
}

function location(at: Place): { physicalLocation: object } {
  return { physicalLocation: { artifactLocation: { uri: uri(at.source.path) }, region: region(at) } };
}

function fixOf(fix: NonNullable<Finding["fix"]>): object {
  return {
    description: { text: fix.title },
    artifactChanges: fix.edits.map(({ at, text }) => ({
      artifactLocation: { uri: uri(at.source.path) },
      replacements: [{ deletedRegion: region(at), insertedContent: { text } }],
    })),
  };
}
