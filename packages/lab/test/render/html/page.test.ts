import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LedgerRecord } from "../../../src/ledger/records.ts";
import { renderPage } from "../../../src/render/html/page.ts";
import { pageScript } from "../../../src/report/page-script.ts";
import { reportOf, type RunReport } from "../../../src/report/run-report.ts";
import { createJudge } from "../../../src/verdict/judge.ts";
import { madeRecords } from "../../report/made-ledger.ts";
import { request, routerError, run } from "../../verdict/ledger.ts";

function judged(records: Iterable<LedgerRecord>): RunReport {
  const judge = createJudge();
  for (const record of records) {
    judge.add(record);
  }
  return reportOf(judge.judged(), []);
}

const pageOf = (report: RunReport, before: RunReport | null = null): string =>
  renderPage({ report, before, script: pageScript() });

/** What people read of it: all before the data and the script. */
const wordsOf = (page: string): string =>
  page.slice(page.indexOf("</style>"), page.indexOf('<script type="application/json"'));

function assertNumbers(page: string): void {
  const odd = /.{0,60}(NaN|Infinity|undefined|null).{0,20}/.exec(wordsOf(page));
  assert.equal(odd?.[0], undefined);
}

const WISH = { requests: 2000, ratePerSecond: 200, restarts: 4, closedDoorMs: 250 };
const failing = judged(madeRecords(WISH));
const whole = judged(madeRecords({ ...WISH, closedDoorMs: 0 }));

describe("the page of a run", () => {
  test("stands alone: no address, no element that loads anything", () => {
    const page = pageOf(failing, whole);
    assert.doesNotMatch(page.replaceAll("http://www.w3.org", ""), /https?:\/\//);
    assert.doesNotMatch(page, /<(link|iframe|object|embed)\b|<script[^>]*\bsrc=|@import|url\((?!#)/);
    for (const [, address = ""] of page.matchAll(/(?:href|src)="([^"]*)"/g)) {
      assert.match(address, /^(#|data:image\/png)/);
    }
  });

  test("tells the verdict first, then everything else", () => {
    const page = pageOf(failing);
    const order = [
      "<h1>",
      "What was lost",
      "What to change",
      "Over time",
      "What went wrong",
      "Every restart",
    ].map((words) => page.indexOf(words));
    assert.deepEqual(
      order,
      order.toSorted((a, b) => a - b),
    );
    assert.ok(order.every((at) => at > 0));
  });

  test("draws every failure as a mark of its kind", () => {
    const page = pageOf(failing);
    const latency = page.slice(page.indexOf('class="row latency"'), page.indexOf('class="row lane router"'));
    failing.verdict.kinds.forEach(({ count, slug }, index) => {
      assert.equal(latency.split(`href="#k${index}"`).length - 1, count, slug);
    });
  });

  test("says of a clean run that nothing was lost, and asks for nothing", () => {
    const page = pageOf(whole);
    assert.match(page, /<h1>Nothing was lost<\/h1>/);
    assert.doesNotMatch(page, /<h2>What went wrong/);
  });

  test("shows three requests of each kind, and how many there are", () => {
    const page = pageOf(failing);
    const [kind] = failing.verdict.kinds;
    assert.ok(kind !== undefined && kind.count > 3);
    const section = page.slice(
      page.indexOf('id="kind-0"'),
      page.indexOf("</section>", page.indexOf('id="kind-0"')),
    );
    assert.equal(section.split('class="trace"').length - 1, 3);
    assert.ok(section.includes(`3 of ${kind.count}`));
  });

  test("lets no text of a ledger become markup", () => {
    const nasty = `</script><script>alert(1)</script><b a="'&`;
    const page = pageOf(
      judged([
        run({ scenario: nasty, router: nasty, command: [nasty], parameters: { signal: nasty } }),
        routerError(100, "A", { path: `/${nasty}`, id: nasty }),
        request(200, { copy: nasty }),
        { kind: "event", atMs: 1, source: "lab", copy: nasty, event: "started", detail: {} },
        { kind: "event", atMs: 150, source: "lab", copy: nasty, event: "signal", detail: { signal: nasty } },
      ]),
    );
    assert.equal(page.split("<script").length - 1, 3);
    assert.equal(page.split("</script>").length - 1, 3);
    assert.ok(!page.includes("<b a="));
  });

  test("of an empty run is a page too, and says that it proves nothing", () => {
    const page = pageOf(judged([]));
    assert.match(page, /This run proves nothing/);
    assertNumbers(page);
  });

  test("never shows a number that is none", () => {
    for (const report of [failing, whole]) {
      assertNumbers(pageOf(report, failing));
    }
  });

  test("beside another run tells what became better and which settings differ", () => {
    const page = pageOf(whole, failing);
    assert.match(page, /<h2>Before and after<\/h2>/);
    assert.match(page, /class="better"><td>lost/);
    assert.match(page, /no failure in 4 restarts/);
  });
});
