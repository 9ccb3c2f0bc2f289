import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LedgerRecord } from "../../src/ledger/records.ts";
import { KINDS, type KindSlug } from "../../src/verdict/kinds.ts";
import type { KindTally } from "../../src/verdict/verdict.ts";
import { CASES } from "./cases.ts";
import { baseline, end, judge, judgeRestart, restart, run } from "./ledger.ts";

/** Needs what no run of the lab has yet: named in each verdict as not looked for, and never guessed. */
const NOT_YET: ReadonlySet<string> = new Set(
  Object.entries(KINDS)
    .filter(([, { needs }]) => needs === "platform" || needs === "clients")
    .map(([slug]) => slug),
);

describe("each bad request has exactly one kind", () => {
  for (const { kind, title, records, options, says, copy, count = 1 } of CASES) {
    test(`${kind}: ${title}`, () => {
      const verdict = judgeRestart(records, options);
      const one = verdict.kinds.find(({ slug }) => slug === kind);
      assert.ok(one !== undefined, verdict.headline);
      assert.equal(one.count, count, verdict.headline);
      assert.match(count === 0 ? one.evidence : (one.examples[0]?.evidence ?? ""), says);
      if (count > 0) {
        // Nothing else is blamed.
        assert.deepEqual(
          verdict.kinds.filter((other) => other.count > 0).map(({ slug }) => slug),
          [kind],
        );
        assert.equal(verdict.requests.bad, count);
      }
      if (one.fails && kind !== "lab-limit") {
        assert.equal(verdict.outcome, "fail");
      }
      if (copy !== undefined) {
        assert.equal(one.examples[0]?.copy, copy);
      }
    });
  }

  test("every kind has a case, or is said to be not looked for", () => {
    const covered = new Set(CASES.map((one) => one.kind));
    assert.deepEqual(
      Object.keys(KINDS).filter((kind) => !covered.has(kind as KindSlug) && !NOT_YET.has(kind)),
      [],
    );
    const said = new Set(judgeRestart([]).notLookedFor.map(({ slug }) => slug));
    assert.deepEqual(
      [...NOT_YET].filter((slug) => !said.has(slug)),
      [],
    );
  });

  test("every id is there once, from K01 on without a gap", () => {
    const ids = Object.values(KINDS).map(({ id }) => id);
    assert.deepEqual(
      ids.toSorted(),
      ids.map((_, index) => `K${String(index + 1).padStart(2, "0")}`),
    );
  });

  test("R3 the sum over the kinds is the total, whatever the order of the records", () => {
    // Each case asks for a path of its own: two requests that end together may swap the line of the log that both could claim.
    const own = (record: LedgerRecord, n: number): LedgerRecord =>
      record.kind === "request"
        ? { ...record, path: `${record.path}-${n}` }
        : record.kind === "router-log"
          ? { ...record, text: record.text.replace(/"$/, `-${n}"`) }
          : record;
    const mixed = CASES.filter((one) => one.options === undefined && one.kind !== "outage").flatMap(
      (one, n) => one.records.map((record) => own(record, n)),
    );
    const whole = [run(), ...restart(), ...baseline(), ...mixed, end()];
    const [forwards, backwards] = [judge(whole), judge(whole.toReversed())];
    const named = (kind: KindTally): string => `${kind.slug} ${kind.count}`;
    const sum = forwards.kinds.reduce((total, kind) => total + kind.count, 0);
    assert.ok(sum > 15);
    assert.equal(sum, forwards.requests.bad);
    assert.equal(
      Object.values(forwards.requests.byHarm).reduce((total, n) => total + n, 0),
      sum,
    );
    assert.equal(
      Object.values(forwards.requests.byCharge).reduce((total, n) => total + n, 0),
      sum,
    );
    assert.deepEqual(backwards.kinds.map(named).toSorted(), forwards.kinds.map(named).toSorted());
    assert.equal(forwards.requests.good + forwards.requests.bad, forwards.requests.sent);
  });
});
