/** A unit without an end. */

import type { Rule } from "../../finding.ts";
import { setting } from "../../parse/systemd.ts";

export const noSigkill: Rule = {
  id: "systemd/no-sigkill",
  severity: "warning",
  summary: "SendSIGKILL is off.",
  why: "A process that does not leave stays for ever, and the next start runs beside it.",
  *check(model) {
    for (const unit of model.units) {
      const value = setting(unit, "Service.SendSIGKILL");
      // Storage that is killed must be recovered: there it is the point.
      const storage =
        /\b(mariadbd|mysqld\w*|postgres|pg_ctl\w*|mongod|prometheus|influxd|redis-server|etcd|ceph-osd|glusterd)\b/.test(
          setting(unit, "Service.ExecStart")?.value ?? "",
        );
      if (value !== undefined && !storage && /^(no|false|0|off)$/i.test(value.value)) {
        yield {
          at: value.at,
          message: "What has not stopped after TimeoutStopSec is left running. Leave SendSIGKILL on.",
        };
      }
    }
  },
};
