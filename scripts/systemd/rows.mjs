// The rows of `npm run systemd`, in the order in which they are played: a name, and what is done, which tells whether the row was
// kept and what was seen.
import { spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { describeHeld, describeLoad, until, watchedBy } from "./watched.mjs";

export function rowsOn(machine) {
  const { systemctl, systemctlAsync, show, journal, inNetwork } = machine;
  const { ask, stopWithHeld, underLoad } = watchedBy(machine);
  /** The request that is held during the stop is answered, and systemd calls the stop a success. */
  const finishes = (name, unit, port, heldMs) => [
    name,
    async () => {
      const seen = await stopWithHeld(unit, port, heldMs);
      return [seen.answer === 200 && seen.result === "success", describeHeld(seen)];
    },
  ];
  return [
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
        return [ok && seen.sub.startsWith("stop"), describeHeld(seen)];
      },
    ],
    [
      "a stuck request ends before TimeoutStopSec",
      async () => {
        const seen = await stopWithHeld("notify.service", 9001, 60_000);
        systemctl("reset-failed");
        return [seen.result === "exit-code" && seen.tookMs < 8000, describeHeld(seen)];
      },
    ],
    [
      "control: TimeoutStopSec=1 cuts a plain app",
      async () => {
        const seen = await stopWithHeld("cut.service", 9003, 3000);
        systemctl("reset-failed");
        return [seen.answer === 0 && seen.result === "timeout", describeHeld(seen)];
      },
    ],
    finishes("EXTEND_TIMEOUT_USEC holds TimeoutStopSec=1", "extend.service", 9002, 3000),
    [
      "User=nobody, NotifyAccess=all",
      async () => {
        const seen = await stopWithHeld("user.service", 9004, 1500);
        const ok = seen.answer === 200 && seen.result === "success" && /draining, at/.test(seen.status);
        return [ok, describeHeld(seen)];
      },
    ],
    ...["mixed", "control-group"].flatMap((mode, n) =>
      [
        ["auto", 9010 + n],
        ["takeover", 9020 + n],
        ["cluster", 9030 + n],
      ].map(([kind, port]) => finishes(`KillMode=${mode}, ${kind}`, `${kind}-${mode}.service`, port, 1500)),
    ),
    finishes("main process leaves early, control-group", "early-group.service", 9005, 1500),
    [
      "control: the same with mixed: the rest is killed",
      async () => {
        const seen = await stopWithHeld("early-mixed.service", 9006, 1500);
        return [seen.answer === 0, describeHeld(seen)];
      },
    ],
    [
      "control: 5 restarts without a socket unit",
      async () => {
        const seen = await underLoad("plain.service", 9040, 5, ["restart", "plain.service"]);
        return [seen.lost > 0, describeLoad(seen)];
      },
    ],
    [
      "socket activation, 20 restarts",
      async () => {
        const seen = await underLoad("active.service", 9041, 20, ["restart", "active.service"]);
        return [seen.lost === 0 && seen.copies > 10 && seen.failed === 0, describeLoad(seen)];
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
        return [seen.lost === 0 && seen.copies > 10 && seen.failed === 0, describeLoad(seen)];
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
        return [seen.lost === 0 && seen.failed === 0, describeLoad(seen)];
      },
    ],
  ];
}
