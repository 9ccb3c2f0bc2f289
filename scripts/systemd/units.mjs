// The units of `npm run systemd` and the app that they run, as files of the container.

export const APP = `
import { createServer } from "node:http";
import cluster from "node:cluster";
import { existsSync } from "node:fs";
if (existsSync("/run/app-dies")) process.exit(5);
if (process.env.WORKERS && cluster.isPrimary) {
  cluster.fork();
} else {
  const server = createServer((request, response) => {
    const body = "pid " + process.pid + "\\n";
    const hold = Number(new URL(request.url, "http://a").searchParams.get("hold") ?? 0);
    if (hold > 0) console.log("held");
    setTimeout(() => response.writeHead(200, { "Content-Length": body.length }).end(body), hold);
  });
  if (process.env.NAIVE) process.on("SIGTERM", () => server.close(() => process.exit(0)));
  setTimeout(() => server.listen(Number(process.env.PORT), "127.0.0.1", () => console.log("listening")), Number(process.env.START_MS ?? 500));
}
`;
const NODE = "/usr/bin/node";
const AUTO = `${NODE} --import file:///opt/lastcall/dist/src/auto.js /opt/app.mjs`;
/** systemd 252 waits for READY only where RELOADING came while this ran. */
const RELOAD = `/bin/sh -c "kill -HUP $MAINPID && sleep 1"`;
const TAKEOVER = "/opt/lastcall/bin/lastcall-takeover /opt/app.mjs";

function service(exec, lines = {}, unit = "") {
  const all = { Type: "notify", ExecStart: exec, TimeoutStopSec: "8", ...lines };
  const text = Object.entries(all)
    .flatMap(([name, value]) => [value].flat().map((one) => `${name}=${one}`))
    .join("\n");
  return `[Unit]\nStartLimitIntervalSec=0\n${unit}\n[Service]\n${text}\n`;
}
const port = (number, more = []) => ({ Environment: [`PORT=${number}`, ...more] });
const socket = (listen, more = "") => `[Socket]\nListenStream=127.0.0.1:${listen}\n${more}\n`;

export const UNITS = {
  "notify.service": service(AUTO, port(9001)),
  "extend.service": service(AUTO, { ...port(9002, ["LASTCALL_GRACE_PERIOD=8s"]), TimeoutStopSec: "1" }),
  "cut.service": service(`${NODE} /opt/app.mjs`, {
    ...port(9003, ["NAIVE=1"]),
    Type: "exec",
    TimeoutStopSec: "1",
  }),
  "user.service": service(AUTO, { ...port(9004), User: "nobody", NotifyAccess: "all" }),
  "early-group.service": service(`/bin/sh -c 'trap "exit 0" TERM; ${AUTO} & wait'`, {
    ...port(9005),
    Type: "exec",
    KillMode: "control-group",
  }),
  "early-mixed.service": service(`/bin/sh -c 'trap "exit 0" TERM; ${AUTO} & wait'`, {
    ...port(9006),
    Type: "exec",
    KillMode: "mixed",
  }),
  ...Object.fromEntries(
    ["mixed", "control-group"].flatMap((mode, n) => [
      [`auto-${mode}.service`, service(AUTO, { ...port(9010 + n), KillMode: mode })],
      [`takeover-${mode}.service`, service(TAKEOVER, { ...port(9020 + n), KillMode: mode })],
      [
        `cluster-${mode}.service`,
        service(AUTO, { ...port(9030 + n, ["WORKERS=1"]), Type: "exec", KillMode: mode }),
      ],
    ]),
  ),
  "plain.service": service(AUTO, port(9040)),
  "active.socket": socket(9041),
  "active.service": service(AUTO, port(9041), "Requires=active.socket"),
  "named.socket": socket(9042, "FileDescriptorName=3000"),
  "named.service": service(AUTO, port(3000), "Requires=named.socket"),
  "reload.service": service(TAKEOVER, { ...port(9043), ExecReload: RELOAD }),
  "slow.service": service(TAKEOVER, { ...port(9045, ["START_MS=3000"]), ExecReload: RELOAD }),
  "both.socket": socket(9044),
  "both.service": service(TAKEOVER, { ...port(9044), ExecReload: RELOAD }, "Requires=both.socket"),
};
