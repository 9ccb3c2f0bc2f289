/** What reruns of the run say: with which factor its failures vanish, and whether the lab sees losses here at all. */

import type { RunReport } from "../../report/run-report.ts";
import { controlInWords, trialInWords } from "../../verdict/reruns.ts";
import { escape } from "./markup.ts";

function list(title: string, lead: string, lines: readonly string[]): string {
  return lines.length === 0
    ? ""
    : `<h3>${title}</h3><p class="where">${lead}</p><ul class="advice">${lines.map((line) => `<li>${escape(line)}</li>`).join("")}</ul>`;
}

export function proofSection({ verdict }: RunReport): string {
  const { trials, controls } = verdict;
  if (trials.length === 0 && controls.length === 0) {
    return "";
  }
  const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
  return `<section id="proof"><h2>Proof by intervention</h2>${list(
    "Explained",
    "The same run once more, with one factor changed at a time.",
    trials.map((trial) => sentence(trialInWords(trial))),
  )}${list(
    "Controls",
    "Runs that must show losses: a lab that sees none in them would see none here either.",
    controls.map((control) => sentence(controlInWords(control))),
  )}</section>`;
}
