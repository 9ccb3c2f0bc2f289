// The attacks are complete, and what judges them can fail.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { ATTACKS } from "../../attacks/all.mjs";
import { NEVER, SHARES, blindBecause, brokenBy, joined, sumUp } from "../../attacks/apparatus/judge.mjs";
import { STOPS, page, textTable } from "../../attacks/apparatus/report.mjs";
import { seenIn } from "../../attacks/apparatus/rollout.mjs";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

test("every scenario file is in the list, under its own name", () => {
  const files = readdirSync(path.join(root, "attacks")).filter(
    (name) => name.endsWith(".mjs") && name !== "all.mjs",
  );
  assert.deepEqual(
    files.map((name) => name.slice(0, -4)).toSorted(),
    ATTACKS.map(({ name }) => name).toSorted(),
  );
});

test("every attack says what is argued, what is promised, and what must hurt its control", () => {
  const contract = readFileSync(path.join(root, "docs/contract.md"), "utf8");
  const service = readFileSync(path.join(root, "attacks/apparatus/service.mjs"), "utf8");
  for (const attack of ATTACKS) {
    for (const text of [attack.title, attack.argument, attack.promise])
      assert.ok(text.length > 20, attack.name);
    assert.ok(attack.remains.length > 0, attack.name);
    assert.ok(attack.clauses.length > 0, attack.name);
    for (const clause of attack.clauses)
      assert.ok(contract.includes(`| ${clause} |`), `${attack.name}: ${clause}`);
    assert.ok(attack.rows.length > 0, attack.name);
    for (const row of attack.rows) {
      const where = `${attack.name}, ${row.name}`;
      assert.ok(Object.hasOwn(STOPS, row.control) && /^[\w-]+$/.test(row.control), where);
      assert.ok(service.includes(`${row.control}(`) || service.includes(`"${row.control}"(`), where);
      assert.ok(Object.keys(row.hurts).length > 0, where);
      assert.ok(
        Object.values(row.hurts).every((least) => least >= 1),
        where,
      );
      const limits = Object.values(row.limits);
      assert.ok(
        limits.every((limit) => typeof limit === "number" || Object.hasOwn(SHARES, limit)),
        where,
      );
    }
    assert.equal(new Set(attack.rows.map(({ name }) => name)).size, attack.rows.length, attack.name);
  }
});

test("the page has a section for every attack", () => {
  const written = readFileSync(path.join(root, "docs/attacks.md"), "utf8");
  assert.deepEqual(
    [...written.matchAll(/^## (.*)$/gm)].map(([, title]) => title),
    ATTACKS.map(({ title }) => title),
  );
});

const quiet = sumUp([{ exposed: 100, more: { "lost before": 0 } }]);

test("nothing is broken where nothing was seen", () => {
  assert.deepEqual(brokenBy({ limits: { lost: 0, "lost before": 0 } }, quiet, quiet), []);
});

test("what a row forbids breaks it, by one", () => {
  const hurt = sumUp([quiet, { lost: 1 }]);
  assert.deepEqual(brokenBy({ limits: { lost: 0 } }, hurt, quiet), ["lost: 1, where the contract allows 0"]);
  assert.deepEqual(brokenBy({ limits: {} }, hurt, quiet), []);
  const early = sumUp([quiet, { more: { "lost before": 1 } }]);
  assert.equal(brokenBy({ limits: { "lost before": 0 } }, early, quiet).length, 1);
});

test("a share of the control's is rounded down", () => {
  const control = sumUp([{ lost: 29 }]);
  const tenth = { limits: { lost: "a tenth of the control's" } };
  assert.deepEqual(brokenBy(tenth, sumUp([{ lost: 2 }]), control), []);
  assert.equal(brokenBy(tenth, sumUp([{ lost: 3 }]), control).length, 1);
});

test("no row can allow what is never allowed by saying nothing of it", () => {
  for (const measure of Object.keys(NEVER)) {
    assert.equal(brokenBy({ limits: {} }, sumUp([{ [measure]: 1 }]), quiet).length, 1, measure);
  }
});

test("a measure that nobody has taken is an error, not a pass", () => {
  assert.throws(() => brokenBy({ limits: { "lost on the way": 0 } }, quiet, quiet), /Nobody has measured/);
  assert.throws(() => brokenBy({ limits: { lost: "some" } }, quiet, quiet), /no limit/);
});

test("a control that was not hurt makes the row blind", () => {
  assert.equal(blindBecause({ hurts: { lost: 1 } }, quiet).length, 1);
  assert.deepEqual(blindBecause({ hurts: { lost: 1 } }, sumUp([{ lost: 1 }])), []);
});

test("a request that was lost is told apart by whether its order was executed, and a second execution is seen", () => {
  const asked = [
    { id: "a", fate: { kind: "served" } },
    { id: "b", fate: { kind: "lost" } },
    { id: "c", fate: { kind: "lost" } },
    { id: "d", fate: { kind: "refused" } },
    { id: "e", fate: { kind: "told" } },
  ];
  const { exposed, lost, lostExecuted, executedTwice } = joined(asked, ["a", "a", "c"]);
  assert.deepEqual(
    { exposed, lost, lostExecuted, executedTwice },
    { exposed: 4, lost: 2, lostExecuted: 1, executedTwice: 1 },
  );
});

test("of a rolling restart those are exposed that were at the leaving copy, failed, or were tried again", () => {
  const request = (dispatchedMs, more) => ({
    kind: "request",
    dispatchedMs,
    endedMs: dispatchedMs + 20,
    fate: "answered",
    status: 200,
    copy: "A",
    upstream: "127.0.0.1:1|200|0|0",
    ...more,
  });
  const records = [
    request(70, {}),
    request(90, {}),
    request(150, {}),
    request(150, { copy: "B" }),
    request(160, { copy: "B", upstream: "127.0.0.1:1, 127.0.0.1:2|502, 200|0|0" }),
    request(170, { copy: null, status: 502 }),
    request(350, { copy: null, status: 502 }),
  ];
  const verdict = {
    restarts: [{ copy: "A", signalMs: 100, exitMs: 200, removedMs: 300 }],
    kinds: [
      { id: "K01", slug: "closed-door", count: 2, chargedTo: "service" },
      { id: "K09", slug: "signal-ignored", count: 0, chargedTo: "service" },
    ],
    requests: {
      byHarm: { lost: 2, truncated: 0, masked: 1 },
      byAnswer: { 200: 5, 502: 2, "body DIGEST": 3 },
      byCharge: { router: 0 },
    },
    store: { inDoubt: ["x"], duplicated: [], unstored: [] },
    witness: { executedTwice: ["y", "z"] },
    run: { router: "embedded" },
  };
  const seen = seenIn(verdict, records);
  assert.equal(seen.exposed, 4);
  assert.equal(seen.lost, 2);
  assert.equal(seen.lostExecuted, 1);
  assert.equal(seen.executedTwice, 2);
  assert.equal(seen.truncated, 3);
  assert.equal(seen.more["after the removal"], 1);
  assert.equal(seen.more["of other kinds than K01 and K16"], 0);
});

test("a real attack: the control's cuts look complete and break the row, the library's do not", async () => {
  const attack = ATTACKS.find(({ name }) => name === "http10-cut");
  const row = attack.rows.find(({ router }) => router === undefined);
  const folder = mkdtempSync(path.join(tmpdir(), "lastcall-attacks-test-"));
  try {
    const control = await attack.run(row, row.control, { folder });
    const lastcall = await attack.run(row, "lastcall", { folder });
    assert.deepEqual(blindBecause(row, control), []);
    assert.deepEqual(brokenBy(row, lastcall, control), []);
    assert.notDeepEqual(brokenBy(row, control, control), []);
    const results = [
      {
        ...attack,
        rows: [
          {
            name: row.name,
            stop: row.control,
            hurts: row.hurts,
            lastcall,
            control,
            broken: [],
            blind: [],
            notRun: null,
            says: "x",
          },
        ],
      },
    ];
    assert.match(textTable(results), /HTTP\/1\.0 client .*kept/);
    const told = { at: "2026-01-01", seconds: 1, attacks: results, judgedBy: "" };
    const machine = { node: "", kernel: "", cores: 1, load: [0, 0], routers: [] };
    assert.match(page({ ...told, machine }), /^## A cut over HTTP/m);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});
