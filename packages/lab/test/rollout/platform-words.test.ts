import assert from "node:assert/strict";
import { test } from "node:test";
import { budgetCommand } from "../../src/commands/budget.ts";
import { platformAdvice } from "../../src/rollout/platform-words.ts";
import { PLATFORMS } from "../../src/scenario/platforms.ts";
import { judge, judgeRestart, end, line, restart, routerError, run } from "../verdict/ledger.ts";

// The lag is 0.6 s; with its margin 1 s. The longest request took 50 ms.
const closedDoor = judgeRestart([routerError(2600, "A"), line(2602, "connect-refused", "A")]);
const wrapped = judgeRestart([routerError(2002, "A"), line(2004, "upstream-closed", "A")], {
  exitMs: 2004,
  notReady: null,
  program: "sh",
  below: "node",
  leftBehind: true,
});

function texts(...args: Parameters<typeof platformAdvice>): string {
  return (platformAdvice(...args)?.lines ?? []).map(({ text }) => text).join("\n");
}

test("the grace period and the delay stand in the words of each platform", () => {
  assert.match(
    texts(closedDoor, "kubernetes"),
    /terminationGracePeriodSeconds: 10\n.*preStop: \{ sleep: \{ seconds: 1 \} \}/,
  );
  assert.match(texts(closedDoor, "compose"), /stop_grace_period: 10s\n.*LASTCALL_DRAIN_DELAY: 1s/);
  assert.match(texts(closedDoor, "systemd"), /TimeoutStopSec=10s\nEnvironment=LASTCALL_DRAIN_DELAY=1s/);
  assert.match(texts(closedDoor, "pm2"), /kill_timeout: 10000\n.*LASTCALL_DRAIN_DELAY: "1s"/);
  assert.match(texts(closedDoor, "plain"), /LASTCALL_GRACE_PERIOD=10s\nLASTCALL_DRAIN_DELAY=1s/);
});

test("a line stands there only when a kind asks for it", () => {
  assert.doesNotMatch(texts(closedDoor, "kubernetes"), /command:|readinessProbe/);
  for (const platform of PLATFORMS) {
    assert.match(texts(wrapped, platform), /app\.js/, platform);
  }
});

test("where there is an emitter, the command that writes the whole file comes to the numbers of the lines", async () => {
  const advice = platformAdvice(closedDoor, "systemd");
  assert.equal(
    advice?.emit,
    "lastcall budget --emit systemd --router-lag 1s --longest-request 0.5s --teardown 1s --start 0.9s",
  );
  const lagging = {
    ...closedDoor,
    advice: { ...closedDoor.advice, settings: { ...closedDoor.advice.settings, drainDelayMs: 1750 } },
  };
  const { sum = "", emit = "" } = platformAdvice(lagging, "kubernetes") ?? {};
  assert.match(sum, /^drain delay 2s/);
  let written = "";
  const io = {
    out: (text: string) => void (written += text),
    err: () => undefined,
    tty: false,
    env: {},
    cwd: "/",
  };
  await budgetCommand.run(emit?.split(" ").slice(2) ?? [], {
    ...io,
    interrupted: new AbortController().signal,
  });
  assert.ok(written.includes(sum), written);
  assert.equal(platformAdvice(closedDoor, "pm2")?.emit, null);
});

test("what was not measured is not set", () => {
  assert.equal(platformAdvice(judge([run(), ...restart(), end()]), "kubernetes"), null);
});
