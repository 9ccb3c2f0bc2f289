/** A hook command that is not split as it should be. */

import type { Rule } from "../../finding.ts";
import { baseName } from "../../model/runners.ts";
import { slice } from "../../source.ts";

export const prestopArgv: Rule = {
  id: "k8s/prestop-argv",
  severity: "error",
  summary: "The preStop command is written for a shell that is not there.",
  why: "exec runs words, not a line: a failing hook costs the wait it was meant to bring.",
  *check(model) {
    for (const pod of model.pods) {
      for (const { preStop } of [...pod.containers, ...pod.sidecars]) {
        const words = preStop?.kind === "exec" ? preStop.words : [];
        const [first, second, third] = words;
        if (first === undefined) {
          continue;
        }
        const texts = words.map((word) => word.text);
        const isShell = /^(ba|da|a)?sh$/.test(baseName(first.text));
        if (words.length === 1 && /^\S+\s+\S/.test(first.text)) {
          const plain =
            /^[\w\s./-]+$/.test(first.text) &&
            first.exact &&
            slice(first.at) === first.text &&
            first.at.source.text[first.at.start - 1] === "[";
          const split = first.text.split(/\s+/).map((word) => JSON.stringify(word));
          yield {
            at: first.at,
            message: `There is no program named '${first.text}': write one word per item.`,
            ...(plain || slice(first.at).startsWith('"')
              ? { fix: { title: "Split it into words", edits: [{ at: first.at, text: split.join(", ") }] } }
              : {}),
          };
        } else if (!isShell && texts.some((word) => /^(&&|\|\||;|\||>|>>|&)$/.test(word))) {
          yield {
            at: first.at,
            message: 'Shell operators are passed to the program as words here. Use ["sh", "-c", "..."].',
          };
        } else if (
          isShell &&
          /^-\w*c$/.test(second?.text ?? "") &&
          third?.text === "sleep" &&
          words.length > 3
        ) {
          yield {
            at: third.at,
            message: '`sh -c` takes one text: what follows `sleep` is not its operand. Write "sleep 5".',
          };
        } else if (baseName(first.text) === "sleep" && second !== undefined && /^\d+ms$/.test(second.text)) {
          yield { at: second.at, message: `sleep does not know '${second.text}': seconds, such as 0.5.` };
        }
      }
    }
  },
};
