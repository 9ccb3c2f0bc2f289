/** Runs a judge in a test: the service must keep the clause, and each service with a planted breach must be found out. */

import assert from "node:assert/strict";
import { after, type TestContext } from "node:test";
import type { Clause, Judgement } from "../../src/contract/clause.ts";
import type { Subject } from "../../src/contract/subject.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { service } from "./services.ts";

/** A test that is killed in the middle leaves no service behind. */
const guardian = startGuardian();
after(() => guardian.close());

/** A judgement as a test's failure shows it: the reason, the figures, and the connection's trace. */
export function tell(judgement: Judgement): string {
  if (judgement.kind === "not judged") {
    return `not judged: ${judgement.why}`;
  }
  const figures = Object.entries(judgement.measured).map(([name, value]) => `  ${name}: ${value}`);
  if (judgement.kind === "kept") {
    return ["kept", ...figures].join("\n");
  }
  const trace = judgement.trace.map(
    (entry) => `  ${String(entry.atMs).padStart(8)} ms  ${entry.what.padEnd(9)} ${entry.bytes} ${entry.text}`,
  );
  return [`broken: ${judgement.reason}`, judgement.todo, ...figures, ...trace].join("\n");
}

export async function keeps(clause: Clause, subject: Subject, t?: TestContext): Promise<void> {
  const judgement = await clause.judge({ ...subject, guardian });
  assert.equal(judgement.kind, "kept", `${clause.id}, ${subject.name}: ${tell(judgement)}`);
  if (judgement.kind === "kept") {
    t?.diagnostic(`${clause.id} ${subject.name}: ${JSON.stringify(judgement.measured)}`);
  }
}

/** `chances`: for a fault that shows by luck, how often it may try. What loses a few by chance loses none in one stop of several. */
export async function breaks(clause: Clause, subject: Subject, reason: RegExp, chances = 1): Promise<void> {
  let judgement = await clause.judge({ ...subject, guardian });
  for (let again = 1; again < chances && judgement.kind !== "broken"; again += 1) {
    judgement = await clause.judge({ ...subject, guardian });
  }
  assert.equal(judgement.kind, "broken", `${clause.id}, ${subject.name}: ${tell(judgement)}`);
  if (judgement.kind === "broken") {
    assert.match(judgement.reason, reason, tell(judgement));
    assert.ok(judgement.todo.length > 20, "a breach says what to do");
  }
}

/** A test of one clause: kept by the library's service, broken by each planted fault for the reason given. */
export function proves(
  clause: Clause,
  planted: readonly (readonly [subject: Subject, reason: RegExp, chances?: number])[],
): (t: TestContext) => Promise<void> {
  return async (t) => {
    assert.ok(
      t.name.startsWith(`${clause.id} `),
      `the title of the test of ${clause.id} begins with its number`,
    );
    await keeps(clause, service, t);
    for (const [subject, reason, chances] of planted) {
      // One service after the other: the machine is shared.
      await breaks(clause, subject, reason, chances);
    }
  };
}
