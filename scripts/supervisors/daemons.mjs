// runit, s6 and supervisord, each with its own words for: stop, how long it waits, and whether it kills then.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { until } from "../show.mjs";

const quote = (text) => `'${text}'`;
const commandLine = ({ node, import: flags, file }) => [node, ...flags, file].map(quote).join(" ");

/** A folder with `run`, and `finish` that notes its arguments, which runit and s6 both understand. */
function serviceFolder({ folder, ...service }, more = {}) {
  const where = path.join(folder, "service");
  mkdirSync(where);
  const scripts = {
    run: `exec ${commandLine(service)} 2>> ../output`,
    finish: 'echo "$1 $2" > ../finished',
  };
  for (const [name, line] of Object.entries(scripts)) {
    writeFileSync(path.join(where, name), `#!/bin/sh\n${line}\n`);
    chmodSync(path.join(where, name), 0o755);
  }
  for (const [name, text] of Object.entries(more)) {
    writeFileSync(path.join(where, name), `${text}\n`);
  }
  return where;
}

/** What `finish` was told: an exit code, or a signal's number. */
function finished(folder) {
  const file = path.join(folder, "finished");
  return existsSync(file) ? readFileSync(file, "utf8").trim() : undefined;
}

/** Runs in the background of this program, which goes on being the client. */
async function tell(command, args, options = {}) {
  const child = spawn(command, args, { stdio: "ignore", ...options });
  const [code] = await once(child, "exit");
  return code;
}

async function startRunit(row) {
  const { folder, env, waitS = 10 } = row;
  const where = serviceFolder(row);
  const daemon = spawn("runsv", [where], { stdio: "ignore", env });
  return {
    async stop() {
      const code = await tell("sv", ["-w", String(waitS), "stop", where]);
      if (code === 0) {
        const told = await until("finish", () => finished(folder));
        return { exit: Number(told.split(" ")[0]), told: `sv: ${code}` };
      }
      return { alive: true, told: `sv: ${code}` };
    },
    async end() {
      const gone = once(daemon, "exit");
      await tell("sv", ["-w", "1", "force-stop", where]);
      await tell("sv", ["-w", "2", "exit", where]);
      daemon.kill("SIGTERM");
      await gone;
    },
  };
}

async function startS6(row) {
  const { folder, env, killAfterMs } = row;
  const where = serviceFolder(row, killAfterMs === undefined ? {} : { "timeout-kill": String(killAfterMs) });
  const daemon = spawn("s6-supervise", [where], { stdio: "ignore", env });
  return {
    async stop() {
      await tell("s6-svc", ["-wD", "-T", "15000", "-d", where]);
      const [code, signal] = (await until("finish", () => finished(folder))).split(" ").map(Number);
      // 256 stands for a signal.
      return { exit: code === 256 ? `by signal ${signal}` : code };
    },
    async end() {
      const gone = once(daemon, "exit");
      await tell("s6-svc", ["-xk", "-d", where]);
      await gone;
    },
  };
}

async function startSupervisord(row) {
  const { folder, env, waitS = 10 } = row;
  const config = path.join(folder, "supervisord.conf");
  const socket = path.join(folder, "supervisor.sock");
  const log = path.join(folder, "supervisord.log");
  const lines = [
    "[unix_http_server]",
    `file=${socket}`,
    "[supervisord]",
    `logfile=${log}`,
    `pidfile=${path.join(folder, "pid")}`,
    `childlogdir=${folder}`,
    ...(process.getuid() === 0 ? ["user=root"] : []),
    "[rpcinterface:supervisor]",
    "supervisor.rpcinterface_factory = supervisor.rpcinterface:make_main_rpcinterface",
    "[supervisorctl]",
    `serverurl=unix://${socket}`,
    "[program:service]",
    `command=${commandLine(row)}`,
    `stopwaitsecs=${waitS}`,
    "stopsignal=TERM",
    "autorestart=false",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  const daemon = spawn("supervisord", ["-n", "-c", config], { stdio: "ignore", env });
  return {
    async stop() {
      await tell("supervisorctl", ["-c", config, "stop", "service"], { env });
      const found = /stopped: service \((.*)\)/.exec(readFileSync(log, "utf8"))?.[1] ?? "";
      const code = /^exit status (\d+)$/.exec(found)?.[1];
      return { exit: code === undefined ? found : Number(code) };
    },
    async end() {
      const gone = once(daemon, "exit");
      daemon.kill("SIGTERM");
      await gone;
    },
  };
}

export const DAEMONS = [
  { name: "runit: sv stop", start: startRunit, load: true, expect: { answer: 200, exit: 0 } },
  {
    name: "runit: a request that never ends, cut at the deadline",
    start: startRunit,
    env: { LASTCALL_GRACE_PERIOD: "3s" },
    ask: "/stuck",
    expect: { answer: 503, exit: 3, outcome: "incomplete" },
  },
  {
    name: "control: runit never kills what does not stop",
    start: startRunit,
    plain: true,
    env: { DEAF: "1" },
    waitS: 2,
    expect: { alive: true, records: 0 },
  },
  {
    name: "s6: s6-svc -d",
    start: startS6,
    load: true,
    killAfterMs: 12_000,
    expect: { answer: 200, exit: 0 },
  },
  {
    name: "control: s6 kills at timeout-kill, shorter than the work",
    start: startS6,
    env: { LASTCALL_GRACE_PERIOD: "20s" },
    ask: "/stuck",
    killAfterMs: 1000,
    expect: { exit: "by signal 9", records: 0 },
  },
  {
    name: "supervisord: supervisorctl stop",
    start: startSupervisord,
    load: true,
    expect: { answer: 200, exit: 0 },
  },
  {
    name: "control: supervisord kills at stopwaitsecs, shorter than the work",
    start: startSupervisord,
    env: { LASTCALL_GRACE_PERIOD: "20s" },
    ask: "/stuck",
    waitS: 1,
    expect: { exit: "terminated by SIGKILL", records: 0 },
  },
];
