/** Something that looks like the exec form and is not JSON. */

import type { Rule } from "../../finding.ts";
import { place } from "../../source.ts";

export const cmdNotJson: Rule = {
  id: "docker/cmd-not-json",
  severity: "error",
  summary: "CMD or ENTRYPOINT looks like a list but is not JSON.",
  why: "Docker then runs the whole line, brackets included, as text in a shell.",
  *check(model) {
    for (const { entrypoint, command } of model.images) {
      for (const one of [entrypoint, command]) {
        const text = one?.text.trim() ?? "";
        if (
          one !== undefined &&
          one.words === undefined &&
          text.startsWith("[") &&
          text.endsWith("]") &&
          !text.startsWith("[ ")
        ) {
          const fixed = toJson(text);
          const start = one.textAt.start + one.text.indexOf("[");
          yield {
            at: one.at,
            message: `${one.keyword} ${text} is not JSON (double quotes, no comma at the end), so it runs as text in a shell.`,
            ...(fixed === undefined
              ? {}
              : {
                  fix: {
                    title: "Write it as JSON",
                    edits: [{ at: place(one.textAt.source, start, start + text.length), text: fixed }],
                  },
                }),
          };
        }
      }
    }
  },
};

function toJson(text: string): string | undefined {
  const candidate = text.replaceAll(/[\u2018\u2019\u201c\u201d']/g, '"').replace(/,\s*\]$/, "]");
  try {
    const value: unknown = JSON.parse(candidate);
    return Array.isArray(value) && value.every((word) => typeof word === "string") ? candidate : undefined;
  } catch {
    // Not certain what was meant: the finding stays without a fix.
    return undefined;
  }
}
