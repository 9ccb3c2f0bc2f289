/** Findings for programs: JSON, GitHub annotations and JUnit. SARIF has a file of its own. */

import { xml } from "../../render/xml.ts";
import type { Finding } from "../finding.ts";
import { position, where } from "../source.ts";

export function renderJson(findings: readonly Finding[], files: number): string {
  const list = findings.map(({ rule, severity, message, why, at, details, related, fix }) => {
    const start = position(at.source, at.start);
    const end = position(at.source, at.end);
    return {
      rule,
      severity,
      message,
      why,
      file: at.source.path,
      line: start.line,
      column: start.column,
      endLine: end.line,
      endColumn: end.column,
      details: details ?? [],
      related: (related ?? []).map((one) => ({
        message: one.message,
        file: one.at.source.path,
        line: position(one.at.source, one.at.start).line,
      })),
      fixable: fix !== undefined,
    };
  });
  return `${JSON.stringify({ schema: "lastcall.lint/1", files, findings: list }, null, 2)}\n`;
}

const LEVELS = { error: "error", warning: "warning", info: "notice" } as const;

/** GitHub's workflow commands: its own escapes for properties and messages. */
export function renderGithub(findings: readonly Finding[]): string {
  const message = (text: string): string =>
    text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
  const property = (text: string): string => message(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
  return findings
    .map((finding) => {
      const { line, column } = position(finding.at.source, finding.at.start);
      const text = [finding.message, ...(finding.details ?? [])].join("\n");
      return `::${LEVELS[finding.severity]} file=${property(finding.at.source.path)},line=${line},col=${column},title=${property(finding.rule)}::${message(text)}\n`;
    })
    .join("");
}

/** One suite per file, one case per finding; a clean run is one passing case. */
export function renderJunit(findings: readonly Finding[]): string {
  const files = new Map<string, Finding[]>();
  for (const finding of findings) {
    files.set(finding.at.source.path, [...(files.get(finding.at.source.path) ?? []), finding]);
  }
  const suites = [...files].map(([file, list]) => {
    const cases = list.map((finding) => {
      const name = `${finding.rule} (${where(finding.at)})`;
      const body = [finding.message, ...(finding.details ?? []), finding.why].join("\n");
      return finding.severity === "info"
        ? `    <testcase classname="${xml(file)}" name="${xml(name)}"><system-out>${xml(body)}</system-out></testcase>`
        : `    <testcase classname="${xml(file)}" name="${xml(name)}"><failure type="${finding.severity}" message="${xml(finding.message)}">${xml(body)}</failure></testcase>`;
    });
    const failures = list.filter(({ severity }) => severity !== "info").length;
    return `  <testsuite name="${xml(file)}" tests="${list.length}" failures="${failures}" errors="0" skipped="0">\n${cases.join("\n")}\n  </testsuite>`;
  });
  const clean = `  <testsuite name="lastcall lint" tests="1" failures="0" errors="0" skipped="0">\n    <testcase classname="lastcall" name="no findings"/>\n  </testsuite>`;
  const failures = findings.filter(({ severity }) => severity !== "info").length;
  const total = Math.max(1, findings.length);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="lastcall lint" tests="${total}" failures="${failures}" errors="0">\n${suites.length === 0 ? clean : suites.join("\n")}\n</testsuites>\n`;
}
