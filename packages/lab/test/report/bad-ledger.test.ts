// Whatever a ledger holds, it is either refused with a code or reported: nothing else may come of it.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { test } from "node:test";
import fc from "fast-check";
import { LabError } from "../../src/errors.ts";
import { renderPage } from "../../src/render/html/page.ts";
import { reportJunit } from "../../src/render/run/junit.ts";
import { reportMarkdown } from "../../src/render/run/markdown.ts";
import { reportText } from "../../src/render/run/plain.ts";
import { PLAIN } from "../../src/render/style.ts";
import { openLedger } from "../../src/report/open-ledger.ts";
import { reportOf } from "../../src/report/run-report.ts";
import { madeRecords } from "./made-ledger.ts";
import { makeFolder } from "../folder.ts";

const folder = makeFolder("bad-ledger");
const file = path.join(folder, "ledger.ndjson");
const LINES = [
  ...madeRecords({ requests: 40, ratePerSecond: 100, restarts: 2, closedDoorMs: 60, posts: true }),
].map((record) => JSON.stringify(record));
const JUNK = [null, 0, -1, 1e300, "", "x", "<b>", "NaN", [], [1], {}, { a: 1 }, true];

/** Every place in a record, its own fields and those below. */
function places(value: unknown, before: readonly string[] = []): readonly (readonly string[])[] {
  return typeof value === "object" && value !== null
    ? Object.entries(value).flatMap(([key, below]) => [[...before, key], ...places(below, [...before, key])])
    : [];
}

async function outcome(text: string): Promise<"refused" | "reported"> {
  writeFileSync(file, text);
  try {
    const opened = await openLedger(file, folder);
    assert.ok(opened !== null);
    const { judged, warnings } = opened;
    const report = reportOf(judged, warnings);
    const page = renderPage({ report, before: report, script: "" });
    const words = page.slice(page.indexOf("</style>"), page.indexOf('<script type="application/json"'));
    const odd = /.{0,60}(?<!>)(NaN|Infinity|undefined).{0,20}/.exec(words);
    assert.equal(odd?.[0], undefined);
    assert.equal(reportJunit(report).split("<testsuite ").length, 2);
    assert.ok(reportMarkdown(report, report).startsWith("### "));
    assert.ok(reportText(report, PLAIN).length > 0);
    return "reported";
  } catch (error) {
    assert.ok(error instanceof LabError, String((error as Error).stack));
    return "refused";
  }
}

test("a field of another type, or none, is refused or reported", async () => {
  const seen = new Set<string>();
  await fc.assert(
    fc.asyncProperty(
      fc.nat(LINES.length - 1),
      fc.nat(),
      fc.constantFrom(...JUNK, undefined),
      async (line, which, junk) => {
        const record = JSON.parse(LINES[line] ?? "{}") as Record<string, unknown>;
        const all = places(record);
        const place = all[which % all.length] ?? [];
        const owner = place.slice(0, -1).reduce((one, key) => one[key] as Record<string, unknown>, record);
        // Undefined is left out by JSON: the field is missing.
        owner[place.at(-1) ?? ""] = junk;
        seen.add(await outcome(`${LINES.with(line, JSON.stringify(record)).join("\n")}\n`));
      },
    ),
    { numRuns: 250, seed: 8 },
  );
  assert.deepEqual([...seen].toSorted(), ["refused", "reported"]);
});

test("a ledger that is cut anywhere is refused or reported", async () => {
  const whole = `${LINES.join("\n")}\n`;
  const seen = new Set<string>();
  for (let length = 0; length < whole.length; length += 331) {
    // One after the other: they share the file.
    seen.add(await outcome(whole.slice(0, length)));
  }
  assert.deepEqual([...seen].toSorted(), ["refused", "reported"]);
});

test("records in any order make the same report", async () => {
  const [head = "", ...rest] = LINES;
  assert.equal(await outcome(`${[head, ...rest.toReversed()].join("\n")}\n`), "reported");
});
