/** The whole command as one string in the exec form. */

import type { Rule } from "../../finding.ts";

export const execFormOneString: Rule = {
  id: "docker/exec-form-one-string",
  severity: "error",
  summary: "The exec form holds the whole command in one string.",
  why: "There is no shell to split it: the container looks for a program with spaces in its name and does not start.",
  *check(model) {
    for (const { entrypoint, command } of model.images) {
      const main = entrypoint ?? command;
      const only = main?.words?.length === 1 ? main.words[0] : undefined;
      if (main !== undefined && only !== undefined && /^\S+\s+\S/.test(only.text)) {
        const words = only.text.trim().split(/\s+/);
        const plain = /^[\w\s./:=@,+-]+$/.test(only.text);
        yield {
          at: main.at,
          message: `${main.keyword} names the program '${only.text}', spaces included.`,
          ...(plain
            ? {
                fix: {
                  title: "Split it into words",
                  edits: [{ at: only.at, text: words.map((word) => JSON.stringify(word)).join(", ") }],
                },
              }
            : {}),
        };
      }
    }
  },
};
