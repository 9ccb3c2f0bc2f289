/** A check that only connects. */

import type { Rule } from "../../finding.ts";
import { backends, isChecked, modeOf } from "../backends.ts";

export const l4CheckOnly: Rule = {
  id: "haproxy/l4-check-only",
  severity: "warning",
  summary: "The health check only opens a connection.",
  why: "A draining service accepts connections until its listener closes: the check sees the stop when it is too late.",
  *check(model) {
    for (const file of model.haproxy) {
      for (const backend of backends(file)) {
        const checked = backend.servers.find((server) => isChecked(backend, server));
        const asks = [backend.section, backend.defaults].some((section) =>
          section?.lines.some(
            ({ words }) =>
              words[0] === "http-check" ||
              words[0] === "tcp-check" ||
              (words[0] === "option" && /chk$|-check$/.test(words[1] ?? "")),
          ),
        );
        if (checked !== undefined && modeOf(backend) === "http" && !asks && backend.servers.length > 1) {
          yield {
            at: checked.at,
            message: `${backend.section.name} is checked by connecting only. Ask the readiness path: \`option httpchk GET /readyz\`.`,
          };
        }
      }
    }
  },
};
