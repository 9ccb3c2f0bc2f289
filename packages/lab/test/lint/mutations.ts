/** Broken versions of real files: the corpus is every fixture, the changes are what editors and merges do to files. */

import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import type { Finding } from "../../src/lint/finding.ts";
import { DEFAULT_SETTINGS } from "../../src/lint/model/settings.ts";
import { renderGithub, renderJson, renderJunit } from "../../src/lint/render/machine.ts";
import { renderSarif } from "../../src/lint/render/sarif.ts";
import { renderText } from "../../src/lint/render/text.ts";
import { RULES } from "../../src/lint/rules/all.ts";
import { judge } from "../../src/lint/run.ts";
import { makeSource } from "../../src/lint/source.ts";
import { applyFixes } from "../../src/lint/fix.ts";
import { worstSum } from "../../src/lint/budget.ts";
import { drawSvg, drawText } from "../../src/lint/timeline.ts";
import type { FileKind, WorkFile } from "../../src/lint/workspace.ts";

const ROOT = path.resolve(import.meta.dirname, "../../../../..");

export interface Sample {
  readonly kind: FileKind;
  readonly name: string;
  readonly text: string;
}

const KINDS: readonly (readonly [RegExp, FileKind])[] = [
  [/Dockerfile$/, "dockerfile"],
  [/package\.json$/, "package"],
  [/ecosystem\.config\.js$/, "pm2"],
  [/\.service$/, "unit"],
  [/\.ya?ml$/, "yaml"],
  [/haproxy\.cfg$/, "haproxy"],
  [/\.service\.d\/.*\.conf$/, "drop-in"],
  [/\.conf$/, "nginx"],
  [/task\.json$/, "json"],
  [/\.sh$/, "dockerfile"],
  [/\.js$/, "source"],
];

/** Every file of the fixtures and of deploy/ that some parser reads. */
export function corpus(): readonly Sample[] {
  return ["fixtures/lint", "deploy", "packages/lab/test/lint/fixtures"].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true })
      .map(String)
      .filter((name) => statSync(path.join(ROOT, folder, name)).isFile())
      .flatMap((name) => {
        const kind = KINDS.find(([pattern]) => pattern.test(name))?.[1];
        return kind === undefined
          ? []
          : [{ kind, name, text: readFileSync(path.join(ROOT, folder, name), "utf8") }];
      }),
  );
}

/** Tokens that mean something to some parser. */
const TOKENS = [
  "{",
  "}",
  "[",
  "]",
  "(",
  ")",
  ":",
  ": ",
  "-",
  "- ",
  "&a ",
  "*a",
  "<<: *a",
  "|",
  ">",
  "'",
  '"',
  "`",
  "$",
  "${",
  "$(",
  "\\",
  "\\\n",
  "\n",
  "\r\n",
  "\t",
  "#",
  ";",
  ";;",
  "&&",
  "||",
  "<<EOF\n",
  "EOF\n",
  "---\n",
  "...\n",
  "!!binary ",
  "%YAML 9.9\n",
  "{{ .Values.x }}",
  "\u0000",
  "\ufeff",
  "\u2028",
  "\ud800",
  "é",
  "FROM x\n",
  "FROM ${A:-$B} AS x\n",
  "CMD [",
  'CMD ["a"]\n',
  "ENTRYPOINT a\n",
  'SHELL ["/bin/bash"]\n',
  "include x;\n",
  "server {\n",
  "[Service]\n",
  "ExecStart=",
  "TimeoutStopSec=",
  "if x; then\n",
  "fi\n",
  "case x in\n",
  "esac\n",
  "a() { a; }\n",
  "exec ",
  "lastcall-ignore",
  "# lastcall-ignore x: y\n",
  "99999999999999999999",
  "-1",
  "1e999",
  "NaN",
  "null",
  "true",
  "~",
  "__proto__",
  "constructor",
  "toString",
  "hasOwnProperty: 1\n",
  "backend x\n",
  "timeout server ",
  "preStop",
  "services:\n",
  "extends: { service: a }\n",
  "? ",
  "! ",
];

/** One change, chosen by numbers so that a run can be repeated. */
export function mutate(text: string, change: number, at: number, length: number, token: number): string {
  const from = text.length === 0 ? 0 : at % (text.length + 1);
  const to = Math.min(text.length, from + (length % 60));
  const piece = TOKENS[token % TOKENS.length] ?? "";
  switch (change % 8) {
    case 0:
      return text.slice(0, from) + text.slice(to);
    case 1:
      return text.slice(0, from) + piece + text.slice(from);
    case 2:
      return text.slice(0, from) + piece + text.slice(to);
    case 3:
      return text.slice(0, to) + text.slice(from, to) + text.slice(to);
    case 4:
      return text.slice(0, from);
    case 5:
      return text.replaceAll("\n", "\r\n");
    case 6:
      return text.slice(0, from) + piece.repeat((length % 400) + 1) + text.slice(to);
    default:
      return text.slice(from) + text.slice(0, from);
  }
}

/** Reads the sample as what it is, in every way that the commands do; throws when something is out of place. */
export function exercise(sample: Sample): readonly Finding[] {
  const source = makeSource(sample.name, sample.text);
  const dockerfile = makeSource("Dockerfile", 'FROM debian:12\nENTRYPOINT ["./script.sh"]\n');
  const isScript = sample.name.endsWith(".sh");
  const file: WorkFile = {
    kind: sample.kind,
    source: isScript ? dockerfile : source,
    folder: "",
    named: true,
  };
  const { findings, model } = judge(
    {
      files: [file],
      problems: [],
      lookup: (name) => (isScript && name.endsWith("script.sh") ? source : undefined),
    },
    DEFAULT_SETTINGS,
  );
  for (const { at, rule } of findings) {
    if (!(at.start >= 0 && at.start <= at.end && at.end <= at.source.text.length)) {
      throw new Error(`${rule} points outside its file: ${at.start}-${at.end} of ${at.source.text.length}`);
    }
  }
  renderText(findings, { colour: false, files: 1, suppressed: 0 });
  renderJson(findings, 1);
  renderGithub(findings);
  renderJunit(findings);
  renderSarif(findings, RULES, "0");
  applyFixes(findings);
  const sums = model.workloads.flatMap((workload) => worstSum(workload) ?? []);
  sums.forEach((sum) => drawText(sum));
  drawSvg(sums);
  return findings;
}
