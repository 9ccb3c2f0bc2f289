// `npm run systemd`: a real systemd, in a container by systemd-nspawn, starts, stops, reloads and activates a service under
// `lastcall/auto` and under `lastcall-takeover`. A row is kept when what systemd says and what clients saw is what the contract
// says (G6). Needs root, systemd-container and debootstrap; the container's root is made once, in ~/.cache/lastcall. Words after
// the command choose rows by their names.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { setTimeout as delay } from "node:timers/promises";
import { describeLosses, startLoad } from "./load/generator.mjs";
import { boot, whyNot } from "./systemd/container.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const why = whyNot();
if (why !== null) {
  console.error(`no systemd can be started here: ${why}`);
  process.exit(3);
}

const APP = `
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

const UNITS = {
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

const started = performance.now();
const machine = await boot({
  files: {
    "opt/app.mjs": APP,
    ...Object.fromEntries(Object.entries(UNITS).map(([name, text]) => [`etc/systemd/system/${name}`, text])),
  },
  binds: { [path.join(root, "packages/lastcall")]: "/opt/lastcall" },
});
const { systemctl, systemctlAsync, show, journal, inNetwork } = machine;
console.log(
  `systemd ${systemctl("--version").text.split(" ")[1]}, Node ${process.version}, up after ${((performance.now() - started) / 1000).toFixed(1)} s\n`,
);

/** One request in the container's network; `0` when it was lost. */
async function ask(number, hold = 0) {
  const code = `require("http").get({host:"127.0.0.1",port:${number},path:"/?hold=${hold}",agent:false},r=>{r.resume();r.on("end",()=>console.log(r.statusCode));r.on("error",()=>console.log(0))}).on("error",()=>console.log(0))`;
  const child = spawn(inNetwork[0], [...inNetwork.slice(1), process.execPath, "-e", code]);
  let text = "";
  child.stdout.on("data", (part) => {
    text += part;
  });
  await once(child, "close");
  return Number(text);
}

async function until(what, check) {
  const giveUpAt = performance.now() + 20_000;
  while (performance.now() < giveUpAt) {
    if (check()) return;
    await delay(100);
  }
  throw new Error(`${what} did not come`);
}

/** Stops a unit with a request in flight that takes `hold`; what became of both. */
async function stopWithHeld(unit, number, hold) {
  const up = systemctl("start", unit);
  if (up.code !== 0) throw new Error(`${unit} did not start: ${journal(unit)}`);
  await until("listening", () => journal(unit).includes("listening"));
  const answer = ask(number, hold);
  await until("the request", () => journal(unit).includes("held"));
  const at = performance.now();
  const stopped = systemctlAsync("stop", unit);
  await delay(300);
  const status = show(unit, "StatusText");
  const sub = show(unit, "SubState");
  await stopped;
  const tookMs = Math.round(performance.now() - at);
  return { answer: await answer, result: show(unit, "Result"), status, sub, tookMs };
}

const describe = ({ answer, result, status, tookMs }) =>
  `held ${answer}, Result=${result}, ${tookMs} ms${status ? `, "${status}"` : ""}`;

/** Does `act` again and again under load. */
async function underLoad(unit, number, times, act) {
  const up = systemctl("start", unit);
  if (up.code !== 0) throw new Error(`${unit} did not start: ${journal(unit)}`);
  const end = await startLoad({ port: number, rate: 200, before: inNetwork });
  let failed = 0;
  for (let n = 0; n < times; n += 1) {
    if ((await systemctlAsync(...act)) !== 0) failed += 1;
    // Until whoever waited in the queue is served: restarts without a pause would leave no time to serve anybody.
    if ((await ask(number)) !== 200) failed += 1;
  }
  const seen = { ...(await end()), failed };
  systemctl("stop", ...Object.keys(UNITS).filter((name) => name.split(".")[0] === unit.split(".")[0]));
  return seen;
}
const loadNote = (seen) =>
  `${seen.sent} connections, ${seen.lost} lost${seen.lost > 0 ? ` (${describeLosses(seen)})` : ""}, ${seen.copies} processes, slowest ${seen.slowestMs} ms${seen.failed > 0 ? `, ${seen.failed} failed` : ""}`;

const ROWS = [
  [
    "start waits for READY",
    async () => {
      const up = systemctl("start", "notify.service");
      const answer = await ask(9001);
      const status = show("notify.service", "StatusText");
      const ok = up.code === 0 && answer === 200 && status === "serving";
      return [ok, `answered ${answer} at once, "${status}"`];
    },
  ],
  [
    "TimeoutStopSec is the grace period",
    async () => {
      const line = /grace period [^>]*/.exec(journal("notify.service"))?.[0].trim() ?? "";
      const at = performance.now();
      const told = show("notify.service", "TimeoutStopUSec");
      const tookMs = Math.round(performance.now() - at);
      return [
        line === "grace period 8 s (TimeoutStopSec of notify.service)",
        `${line}; systemctl said ${told} in ${tookMs} ms`,
      ];
    },
  ],
  [
    "STOPPING and STATUS while it drains",
    async () => {
      const seen = await stopWithHeld("notify.service", 9001, 1500);
      const ok =
        seen.answer === 200 && seen.result === "success" && seen.status.startsWith("draining, at most");
      return [ok && seen.sub.startsWith("stop"), describe(seen)];
    },
  ],
  [
    "a stuck request ends before TimeoutStopSec",
    async () => {
      const seen = await stopWithHeld("notify.service", 9001, 60_000);
      systemctl("reset-failed");
      return [seen.result === "exit-code" && seen.tookMs < 8000, describe(seen)];
    },
  ],
  [
    "control: TimeoutStopSec=1 cuts a plain app",
    async () => {
      const seen = await stopWithHeld("cut.service", 9003, 3000);
      systemctl("reset-failed");
      return [seen.answer === 0 && seen.result === "timeout", describe(seen)];
    },
  ],
  [
    "EXTEND_TIMEOUT_USEC holds TimeoutStopSec=1",
    async () => {
      const seen = await stopWithHeld("extend.service", 9002, 3000);
      return [seen.answer === 200 && seen.result === "success", describe(seen)];
    },
  ],
  [
    "User=nobody, NotifyAccess=all",
    async () => {
      const seen = await stopWithHeld("user.service", 9004, 1500);
      const ok = seen.answer === 200 && seen.result === "success" && /draining, at/.test(seen.status);
      return [ok, describe(seen)];
    },
  ],
  ...["mixed", "control-group"].flatMap((mode, n) =>
    [
      ["auto", 9010 + n],
      ["takeover", 9020 + n],
      ["cluster", 9030 + n],
    ].map(([kind, number]) => [
      `KillMode=${mode}, ${kind}`,
      async () => {
        const unit = `${kind}-${mode}.service`;
        const seen = await stopWithHeld(unit, number, 1500);
        return [seen.answer === 200 && seen.result === "success", describe(seen)];
      },
    ]),
  ),
  [
    "main process leaves early, control-group",
    async () => {
      const seen = await stopWithHeld("early-group.service", 9005, 1500);
      return [seen.answer === 200 && seen.result === "success", describe(seen)];
    },
  ],
  [
    "control: the same with mixed: the rest is killed",
    async () => {
      const seen = await stopWithHeld("early-mixed.service", 9006, 1500);
      return [seen.answer === 0, describe(seen)];
    },
  ],
  [
    "control: 5 restarts without a socket unit",
    async () => {
      const seen = await underLoad("plain.service", 9040, 5, ["restart", "plain.service"]);
      return [seen.lost > 0, loadNote(seen)];
    },
  ],
  [
    "socket activation, 20 restarts",
    async () => {
      const seen = await underLoad("active.service", 9041, 20, ["restart", "active.service"]);
      return [seen.lost === 0 && seen.copies > 10 && seen.failed === 0, loadNote(seen)];
    },
  ],
  [
    "socket named 3000 for an app on 3000",
    async () => {
      systemctl("start", "named.service");
      const answers = [await ask(9042), await ask(3000)];
      systemctl("stop", "named.socket", "named.service");
      return [answers.join() === "200,0", `9042: ${answers[0]}, 3000: ${answers[1]}`];
    },
  ],
  [
    "takeover, 20 times systemctl reload",
    async () => {
      const seen = await underLoad("reload.service", 9043, 20, ["reload", "reload.service"]);
      return [seen.lost === 0 && seen.copies > 10 && seen.failed === 0, loadNote(seen)];
    },
  ],
  [
    "takeover, systemctl reload waits for READY",
    async () => {
      systemctl("start", "slow.service");
      const ready = () => journal("slow.service").match(/is ready/g)?.length ?? 0;
      const at = performance.now();
      await systemctlAsync("reload", "slow.service");
      const [tookMs, count] = [Math.round(performance.now() - at), ready()];
      await until("the new copy", () => ready() === 2);
      systemctl("stop", "slow.service");
      return [count === 2 && tookMs >= 3000, `back after ${tookMs} ms, ${count - 1} new copy ready`];
    },
  ],
  [
    "reload that fails changes nothing",
    async () => {
      systemctl("start", "reload.service");
      const [before] = [show("reload.service", "MainPID")];
      spawn(inNetwork[0], ["-t", inNetwork[2], "-m", "touch", "/run/app-dies"]);
      await delay(300);
      systemctl("reload", "reload.service");
      await until("the failure", () => journal("reload.service").includes("LASTCALL_TAKEOVER_START"));
      await delay(300);
      const status = show("reload.service", "StatusText");
      const answer = await ask(9043);
      const state = `${show("reload.service", "ActiveState")}/${show("reload.service", "SubState")}`;
      const same = show("reload.service", "MainPID") === before;
      spawn(inNetwork[0], ["-t", inNetwork[2], "-m", "rm", "-f", "/run/app-dies"]);
      return [
        answer === 200 && state === "active/running" && same,
        `answered ${answer}, ${state}, "${status}"`,
      ];
    },
  ],
  [
    "takeover's parent killed: no copy stays",
    async () => {
      systemctl("start", "reload.service");
      systemctl("kill", "--kill-who=main", "--signal=KILL", "reload.service");
      await until("the end", () => show("reload.service", "ActiveState") === "failed");
      const answer = await ask(9043);
      systemctl("reset-failed");
      return [answer === 0, `answered ${answer}, Result=${show("reload.service", "Result")}`];
    },
  ],
  [
    "takeover and socket unit, 5 restarts",
    async () => {
      const seen = await underLoad("both.service", 9044, 5, ["restart", "both.service"]);
      return [seen.lost === 0 && seen.failed === 0, loadNote(seen)];
    },
  ],
];

let broken = 0;
try {
  const words = process.argv.slice(2);
  for (const [name, work] of ROWS.filter(([row]) => words.every((word) => row.includes(word)))) {
    const [ok, note] = await work().catch((error) => [false, error.message]);
    broken += ok ? 0 : 1;
    console.log(`${name.padEnd(50)} ${ok ? "kept  " : "BROKEN"}  ${note}`);
  }
} finally {
  await machine.end();
}
console.log(broken === 0 ? "\nevery row kept" : `\n${broken} broken`);
process.exit(broken === 0 ? 0 : 1);
