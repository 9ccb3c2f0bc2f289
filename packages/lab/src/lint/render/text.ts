/** Findings for people: the place, one line of what and one of why, the lines of the file, the sum. */

import { atLeast, type Finding, type Severity } from "../finding.ts";
import { lineText, position, where } from "../source.ts";

export interface TextOptions {
  readonly colour: boolean;
  readonly files: number;
  readonly suppressed: number;
}

const CODES: Readonly<Record<Severity | "dim" | "bold", string>> = {
  error: "31",
  warning: "33",
  info: "36",
  dim: "2",
  bold: "1",
};

export function renderText(findings: readonly Finding[], options: TextOptions): string {
  const paint = (code: keyof typeof CODES, text: string): string =>
    options.colour ? `\u001b[${CODES[code]}m${text}\u001b[0m` : text;
  const blocks = findings.map((finding) => {
    const { at, severity, rule, message, why, details, related, fix } = finding;
    const { line, column } = position(at.source, at.start);
    return [
      `${paint("bold", `${at.source.path}:${line}:${column}`)}  ${paint(severity, severity)}  ${message}  ${paint("dim", rule)}`,
      ...frame(finding, paint),
      ...(details ?? []).map((detail) => `      ${detail}`),
      ...(related ?? []).map((one) => `      ${paint("dim", "see")} ${where(one.at)}  ${one.message}`),
      `      ${paint("dim", "why")} ${why}`,
      ...(fix === undefined ? [] : [`      ${paint("dim", "fix")} ${fix.title} (--fix)`]),
    ].join("\n");
  });
  return `${[...blocks, summary(findings, options)].join("\n\n")}\n`;
}

/** The line itself with the place marked, and its neighbours. */
function frame(
  { at, severity }: Finding,
  paint: (code: keyof typeof CODES, text: string) => string,
): readonly string[] {
  const { source } = at;
  if (source.text === "") {
    return [];
  }
  const { line, column } = position(source, at.start);
  const lines: string[] = [];
  const width = String(line + 1).length;
  for (const number of [line - 1, line, line + 1]) {
    if (
      number < 1 ||
      number > source.starts.length ||
      (number !== line && lineText(source, number).trim() === "")
    ) {
      continue;
    }
    const text = lineText(source, number).replaceAll("\t", "  ").slice(0, 160);
    lines.push(
      `    ${number === line ? ">" : " "} ${paint("dim", `${String(number).padStart(width)} |`)} ${text}`.trimEnd(),
    );
    if (number === line) {
      const before = lineText(source, number)
        .slice(0, column - 1)
        .replaceAll("\t", "  ");
      const rest = lineText(source, number).length - column + 1;
      const length = Math.max(1, Math.min(at.end - at.start, rest, 160 - before.length));
      if (before.length < 160) {
        lines.push(
          `      ${" ".repeat(width)} ${paint("dim", "|")} ${" ".repeat(before.length)}${paint(severity, "^".repeat(length))}`,
        );
      }
    }
  }
  return lines;
}

const NOTHING_READ = "there is nothing here that lint knows (docs/lint.md says what it reads)";

function summary(findings: readonly Finding[], { files, suppressed }: TextOptions): string {
  const count = (severity: Severity): number => findings.filter((one) => one.severity === severity).length;
  const parts = (["error", "warning", "info"] as const).flatMap((severity) => {
    const found = count(severity);
    const word =
      severity === "info" ? (found === 1 ? "note" : "notes") : found === 1 ? severity : `${severity}s`;
    return found === 0 ? [] : [`${found} ${word}`];
  });
  const silenced = suppressed === 0 ? "" : `, ${suppressed} silenced`;
  const total = parts.length > 0 ? parts.join(", ") : files > 0 ? "nothing found" : NOTHING_READ;
  return `${files} file${files === 1 ? "" : "s"} read: ${total}${silenced}`;
}

export function failing(findings: readonly Finding[], limit: Severity): boolean {
  return findings.some(({ severity }) => atLeast(severity, limit));
}
