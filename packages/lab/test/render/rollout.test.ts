import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventRecord, LedgerRecord, RequestRecord } from "../../src/ledger/records.ts";
import { boundInWords, boundShare } from "../../src/render/in-words.ts";
import { renderDetails } from "../../src/render/rollout-details.ts";
import { renderHead, renderOutcome, renderTable } from "../../src/render/rollout.ts";
import { rolloutJson } from "../../src/render/rollout-json.ts";
import { ROLLOUT_SCHEMA } from "../../src/report/schema.ts";
import { faults } from "../json-schema.ts";
import { COLOUR, PLAIN } from "../../src/render/style.ts";
import { spansOf, timelineOf } from "../../src/render/timeline.ts";
import { controlOf, controlsFor } from "../../src/rollout/controls.ts";
import { factorsFor, trialOf } from "../../src/rollout/explain.ts";
import { exitCodeOf, judgeRow, type Row } from "../../src/rollout/row.ts";
import { planRollout } from "../../src/scenario/planning.ts";
import type { RolloutOptions } from "../../src/scenario/rollout-options.ts";
import { createJudge } from "../../src/verdict/judge.ts";

const event = (
  atMs: number,
  name: EventRecord["event"],
  copy: string | null,
  detail: EventRecord["detail"] = {},
): EventRecord => ({ kind: "event", atMs, source: "target", copy, event: name, detail });

function request(n: number, status: number): RequestRecord {
  const atMs = 1000 + n * 50;
  return {
    kind: "request",
    id: `r1-${n}`,
    method: n % 2 === 0 ? "GET" : "POST",
    path: `/x?id=r1-${n}`,
    intendedMs: atMs,
    dispatchedMs: atMs,
    connectedMs: atMs + 1,
    writtenMs: atMs + 1,
    firstByteMs: atMs + 20,
    endedMs: atMs + 20,
    fate: "answered",
    status,
    stage: null,
    error: null,
    connection: { id: n, reuse: 0, ageMs: 0, closedFirst: "server" },
    bytes: { promised: 2, got: 2 },
    copy: status < 400 ? "B" : null,
    upstream: status < 400 ? "127.0.0.1:2|200|0.001|0.020" : "127.0.0.1:1|502|-|0.001",
  };
}

function row(
  options: RolloutOptions,
  refused: number,
  killed = false,
  ended: "finished" | "interrupted" = "finished",
  more: readonly LedgerRecord[] = [],
  rows: number | null = null,
): Row {
  const [plan] = planRollout(options);
  assert.ok(plan !== undefined);
  const records: LedgerRecord[] = [
    {
      kind: "run",
      schema: "lastcall.ledger/1",
      scenario: plan.scenario,
      seed: 1,
      at: "2026-11-29T21:00:00.000Z",
      command: ["x"],
      router: "nginx 1.22.1",
      machine: { node: "v20.20.2", platform: "linux", cores: 2 },
      parameters: {},
    },
    event(0, "started", "A", { pid: 1, port: 1 }),
    event(0, "started", "B", { pid: 2, port: 2 }),
    event(500, "added", "A", { port: 1 }),
    event(500, "added", "B", { port: 2 }),
    event(1000, "load-started", null),
    event(2000, "signal", "A", { signal: "SIGTERM" }),
    event(2020, "not-ready", "A", { seen: 503 }),
    ...(killed ? [event(2500, "killed", "A", { signal: "SIGKILL" })] : []),
    event(2600, "exited", "A", { code: killed ? null : 0, signal: killed ? "SIGKILL" : null }),
    event(2610, "started", "A2", { pid: 3, port: 3 }),
    event(2900, "ready", "A2"),
    event(2950, "added", "A2", { port: 3 }),
    event(3010, "removed", "A", { port: 1 }),
    ...more,
    ...Array.from({ length: 80 }, (_, n) =>
      request(n, n >= 22 && n < 22 + refused ? 502 : n % 2 === 0 ? 200 : 201),
    ),
    { kind: "end", atMs: 6000, reason: ended, rows },
  ];
  const judge = createJudge();
  for (const record of records) {
    judge.add(record);
  }
  return judgeRow(plan, judge.verdict(), "runs/x");
}

test("a row's timeline is told in the order in which it happened", () => {
  const { verdict } = row({ scenario: "stop" }, 0);
  const [restart] = verdict.restarts;
  assert.ok(restart !== undefined);
  assert.equal(
    timelineOf(restart, verdict),
    "SIGTERM A 1.00 → not ready 1.02 → exit 0 1.60 → A2 ready 1.90 → in 1.95 → out 2.01",
  );
});

test("of many restarts the shortest and the longest spans are told", () => {
  const { verdict } = row({ scenario: "stop" }, 0);
  const [restart] = verdict.restarts;
  assert.ok(restart !== undefined);
  assert.equal(
    spansOf([restart, { ...restart, exitMs: restart.signalMs + 900, removedMs: null }]),
    "signal to out 1.01 to 1.01 s, signal to exit 0.60 to 0.90 s, start to ready 0.29 to 0.29 s",
  );
});

test("the report fits into 100 columns, whatever it has to say", () => {
  const rows = [
    row({ scenario: "stop" }, 12),
    row(
      { command: ["x"], repeat: "20", retries: true, "upstream-keepalive": true, "client-keepalive": true },
      3,
      true,
    ),
  ];
  const text = [
    renderHead(rows),
    renderHead(rows.slice(1)),
    renderTable(rows, PLAIN),
    ...rows.map((one) => renderDetails(one, PLAIN, true)),
    renderOutcome(rows, PLAIN),
  ].join("\n");
  for (const line of text.split("\n")) {
    assert.ok(line.length <= 100, `${line.length}: ${line}`);
  }
  assert.doesNotMatch(text, /undefined|NaN|null|\[object/);
});

test("without colour there is no escape sequence, and with it the words are the same", () => {
  const one = row({}, 0);
  const plain = renderTable([one], PLAIN) + renderDetails(one, PLAIN, true);
  const colour = renderTable([one], COLOUR) + renderDetails(one, COLOUR, true);
  assert.ok(!plain.includes("\u001B"));
  // oxlint-disable-next-line eslint/no-control-regex
  assert.equal(colour.replaceAll(/\u001B\[\d+m/g, ""), plain);
});

test("a row that shows what it must says yes, one that does not says why", () => {
  const good = row({ scenario: "stop" }, 12);
  assert.ok(good.shown);
  assert.match(renderTable([good], PLAIN), /✓ stop .* yes\n.*many fail, all refused · seen: 12 /);
  const bad = row({ scenario: "stop" }, 3);
  assert.match(renderTable([bad], PLAIN), /✗ stop .* no\n.*\n.*3 failed, 10 to 30 expected/);
  assert.match(renderOutcome([good, bad], PLAIN), /1 of 2 rows show what they must/);
});

test("a stranger's row fails on any loss, and on a copy that had to be killed though nothing was lost", () => {
  const command = ["x"];
  assert.ok(row({ command }, 0).shown);
  assert.match(row({ command }, 1).why ?? "", /1 request harmed by the service/);
  const killed = row({ command }, 0, true);
  assert.match(killed.why ?? "", /A did not stop and had to be killed/);
  assert.match(renderDetails(killed, PLAIN, true), /killed +A was still there 30s after its stop signal/);
});

test("a copy that ended by itself is a finding though nothing was lost, and told with its code", () => {
  const one = row({ command: ["x"] }, 0, false, "finished", [
    event(3500, "exited", "B", { code: 9, signal: null, asked: false }),
  ]);
  assert.match(one.why ?? "", /B ended though nobody had told it to/);
  assert.match(renderDetails(one, PLAIN, true), /by itself +B ended 2\.50 s into the load .* exit code 9\./);
});

test("zero is stated with its bound, and none of none as nothing known", () => {
  const few = { bad: 0, of: 20, upper95: 3 / 20 };
  assert.equal(boundInWords(few, "copies", "fell"), "0 of 20 copies fell: below 15 % with 95 % confidence");
  const text = renderDetails(row({}, 0), PLAIN, true);
  assert.match(text, /no requests to a leaving copy: nothing is known of them/);
});

test("a list of executed ids that held none of this run is named as what it most likely is: another file", () => {
  const mine = { command: ["x"], post: "/x", executed: "elsewhere.txt" };
  const empty = row(mine, 0, false, "finished", [], 0);
  assert.match(renderDetails(empty, PLAIN, false), /executed +elsewhere\.txt held not one id of this run/);
  assert.doesNotMatch(renderDetails(row(mine, 0), PLAIN, false), /held not one id/);
  assert.match(renderOutcome([empty], PLAIN), /^Findings/);
});

test("what is done fits its column, with retries too", () => {
  for (const options of [{ retries: true }, { retries: true, "drain-delay": "12.5s" }, {}]) {
    for (const plan of planRollout({ ...options, all: true })) {
      assert.ok(plan.title.length <= 32, plan.title);
    }
  }
});

test("a bound of all says nothing, and is not printed as one", () => {
  assert.match(renderDetails(row({}, 0), PLAIN, true), /0 of 1 restarts lost something: too few for a bound/);
  assert.match(renderDetails(row({}, 3), PLAIN, true), /1 of 1 restarts lost something\n/);
});

test("shares are printed with two digits that matter", () => {
  assert.deepEqual([0.5, 0.075, 0.0015, 1].map(boundShare), ["50 %", "7.5 %", "0.15 %", "100 %"]);
});

test("the JSON has its schema version, the exit code and one entry a row", () => {
  const document = JSON.parse(rolloutJson([row({ scenario: "stop" }, 12), row({}, 0)], 0)) as {
    schema: string;
    exitCode: number;
    rows: Record<string, unknown>[];
  };
  assert.deepEqual(faults(ROLLOUT_SCHEMA, document), []);
  const bare = { ...document, rows: [{ ...document.rows[0], verdict: {}, explain: [{ factor: 1 }] }] };
  const wrong = faults(ROLLOUT_SCHEMA, bare);
  assert.ok(wrong.includes("$.rows[0].verdict.kinds is missing"), wrong.join("\n"));
  assert.ok(wrong.includes("$.rows[0].explain[0].factor is no string"), wrong.join("\n"));
  assert.equal(document.schema, "lastcall.rollout/1");
  assert.equal(document.exitCode, 0);
  assert.deepEqual(
    document.rows.map(({ scenario, shown, getFailed, postFailed }) => [
      scenario,
      shown,
      getFailed,
      postFailed,
    ]),
    [
      ["stop", true, 6, 6],
      ["drain", true, 0, 0],
    ],
  );
});

test("reruns are told: with what the failures vanish, what a control showed, and a blind lab is invalid", () => {
  const base = row({ command: ["x"], platform: "systemd" }, 6);
  const clean = row({ command: ["x"] }, 0);
  const [first] = factorsFor(base.plan, base.verdict);
  assert.ok(first !== undefined);
  const trial = trialOf(first.factor, base.verdict, clean.verdict, "runs/x-1");
  const [control] = controlsFor(base.plan, base.verdict);
  assert.ok(control !== undefined);
  const reruns = (showed: Row): readonly LedgerRecord[] => [
    { kind: "trial", ...trial },
    { kind: "control", ...controlOf(control, showed.verdict, "runs/x-2") },
  ];
  const seen = row({ command: ["x"], platform: "systemd" }, 6, false, "finished", reruns(base));
  const text = renderDetails(seen, PLAIN, true);
  assert.match(text, /explained +the failures vanish with a drain delay longer than the router's lag/);
  assert.match(
    text,
    /controls +SIGKILL instead of the stop signal: 6 of 80 requests went wrong, as they must/,
  );
  assert.match(text, /systemd +drain delay .*\n +TimeoutStopSec=10s/);
  assert.match(text, /proven: /);
  assert.ok(text.split("\n").every((line) => line.length <= 100));
  assert.deepEqual(faults(ROLLOUT_SCHEMA, JSON.parse(rolloutJson([seen], 1))), []);
  const blind = row({ command: ["x"] }, 0, false, "finished", reruns(clean));
  assert.match(blind.why ?? "", /the lab is blind/);
  assert.equal(exitCodeOf([blind]), 4);
});

test("the exit code says findings, or that the run proves nothing, which weighs more", () => {
  const [good, bad, invalid] = [row({}, 0), row({}, 3), row({}, 0, false, "interrupted")];
  assert.match(invalid.why ?? "", /invalid run: the run was interrupted/);
  assert.deepEqual(
    [exitCodeOf([good]), exitCodeOf([good, bad]), exitCodeOf([good, bad, invalid])],
    [0, 1, 4],
  );
});
