/** The text form of CMD or ENTRYPOINT: does this image's shell make way for the program? */

import { WINDOWS } from "../../model/image-facts.ts";
import type { Fix, Rule } from "../../finding.ts";
import { parseShell } from "../../parse/shell.ts";
import type { Place } from "../../source.ts";

export const shellForm: Rule = {
  id: "docker/shell-form",
  severity: "error",
  summary: "CMD or ENTRYPOINT is in text form, so a shell stands between the signal and the service.",
  why: "The shell is PID 1 and ignores SIGTERM unless it replaces itself with the program, which depends on the image.",
  *check(model) {
    for (const { image, program } of model.images.map((one) => ({ image: one, program: one.program }))) {
      const link = program?.chain[0];
      if (
        link?.kind !== "shell" ||
        link.role !== "text" ||
        program === undefined ||
        looksLikeJson(link.text) ||
        WINDOWS.test(image.facts.reference)
      ) {
        continue;
      }
      const from = image.facts.shellFrom;
      const fix = toExecForm(link.text, link.at);
      const extra = fix === undefined ? {} : { fix };
      if (link.verdict === "stays") {
        const reason = link.shell === "unknown" ? "no shell replaces itself here" : from;
        yield {
          at: program.at,
          message: `The shell stays PID 1 and SIGTERM does not reach the service (${reason}). Use the exec form or write \`exec\`.`,
          ...extra,
        };
      } else if (link.verdict === "replaced") {
        yield {
          at: program.at,
          severity: "info",
          message: `This works only because ${from}, which replaces itself. Use the exec form or write \`exec\`.`,
          ...extra,
        };
      } else if (link.verdict === "unknown" && link.plain) {
        const severity = link.shell === "none" ? "error" : "warning";
        const text =
          link.shell === "none"
            ? `The text form needs a shell: ${from}.`
            : `Whether SIGTERM reaches the service depends on the shell, and ${from}. Use the exec form or write \`exec\`.`;
        yield { at: program.at, severity, message: text, ...extra };
      }
    }
  },
};

function looksLikeJson(text: string): boolean {
  return text.startsWith("[") && text.endsWith("]");
}

/** A plain command without anything for a shell to do means the same as words. */
function toExecForm(text: string, at: Place): Fix | undefined {
  const list = parseShell(text);
  const only = list?.length === 1 && list[0]?.chain.length === 1 ? list[0].chain[0]?.pipeline : undefined;
  const command = only?.length === 1 ? only[0] : undefined;
  if (
    command?.kind !== "simple" ||
    command.redirects > 0 ||
    command.assigns.length > 0 ||
    list?.[0]?.background === true
  ) {
    return undefined;
  }
  const plain = command.words.every(
    ({ literal, text: word }) => literal && !/^~|^(exec|cd|export)$/.test(word),
  );
  return plain
    ? {
        title: "Write it in exec form",
        edits: [{ at, text: `[${command.words.map(({ text: word }) => JSON.stringify(word)).join(", ")}]` }],
      }
    : undefined;
}
