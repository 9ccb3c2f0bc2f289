/** The rules for reading: the list, and one rule's page. */

import { existsSync, readFileSync } from "node:fs";
import { LabError } from "../errors.ts";
import { RULES } from "./rules/all.ts";

export function listRules(): string {
  const width = Math.max(...RULES.map(({ id }) => id.length));
  return RULES.map(
    ({ id, severity, summary }) => `${id.padEnd(width)}  ${severity.padEnd(7)}  ${summary}\n`,
  ).join("");
}

/** The page in `docs/rules`: beside the package when it is installed, at the top of the repository otherwise. */
export function explain(id: string): string {
  const rule = RULES.find((one) => one.id === id);
  if (rule === undefined) {
    const near = RULES.filter((one) => one.id.includes(id.slice(id.indexOf("/") + 1))).map((one) => one.id);
    throw new LabError(
      "LAB_USAGE",
      `There is no rule '${id}'.`,
      near.length === 0 ? "See lastcall lint --list-rules." : `Did you mean ${near.join(" or ")}?`,
    );
  }
  for (const up of ["../../../docs/rules/", "../../../../../docs/rules/"]) {
    const file = new URL(`${up}${id}.md`, import.meta.url);
    if (existsSync(file)) {
      return readFileSync(file, "utf8");
    }
  }
  return `# ${rule.id}\n\n${rule.summary}\n\n${rule.why}\n`;
}
