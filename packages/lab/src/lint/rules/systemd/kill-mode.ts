/** A unit that leaves processes behind, or signals only one of them. */

import type { Rule } from "../../finding.ts";
import { setting } from "../../parse/systemd.ts";

export const killMode: Rule = {
  id: "systemd/kill-mode",
  severity: "error",
  summary: "KillMode is none or process.",
  why: "With none systemd kills nothing; with process the children live on, outside of any limit.",
  *check(model) {
    for (const unit of model.units) {
      const mode = setting(unit, "Service.KillMode");
      const start = setting(unit, "Service.ExecStart")?.value ?? "";
      const leaves =
        /\b(sshd|tmux|screen|docker|podman|dockerd|containerd|kubelet|libvirtd|crond?|atd|agetty|login|supervisord|sulogin|systemd-sulogin-shell|systemd-nspawn|runsvdir)\b|^-?\/(usr\/)?bin\/(ba|da|z)?sh$/.test(
          start,
        );
      // A oneshot is over when its work is; what it started for others may stay.
      const oneshot = setting(unit, "Service.Type")?.value === "oneshot";
      if (mode !== undefined && !leaves && !oneshot && (mode.value === "none" || mode.value === "process")) {
        yield {
          at: mode.at,
          severity: mode.value === "none" ? "error" : "warning",
          message:
            mode.value === "none"
              ? "With KillMode=none nothing is ever stopped: not by SIGTERM, not by SIGKILL."
              : "With KillMode=process only the main process is stopped; its children go on running. Use mixed.",
        };
      }
    }
  },
};
