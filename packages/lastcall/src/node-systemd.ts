/**
 * Tells systemd (`Type=notify`) by its own helper: Node has no datagram sockets of the unix family. Root's helper speaks
 * in the name of this process; another user's needs `NotifyAccess=all` in the unit.
 */

import { spawn } from "node:child_process";

let isMissing = false;

/** Sends assignments such as `READY=1`. Nothing without NOTIFY_SOCKET, and a socket that nobody reads costs nothing. */
export function notifySystemd(assignments: readonly string[], failed: (why: string) => void): void {
  if (!process.env["NOTIFY_SOCKET"] || isMissing) {
    return;
  }
  const helper = spawn("systemd-notify", ["--no-block", ...assignments], { stdio: "ignore" });
  helper.unref();
  helper.once("error", (error) => {
    isMissing = true;
    failed(`systemd-notify cannot be started: ${error.message}`);
  });
  helper.once("exit", (code) => {
    if (code !== 0) {
      failed(`systemd-notify ended with ${code}: nobody reads NOTIFY_SOCKET, or the unit does not allow it`);
    }
  });
}
