// What a person may write about a service, and what is refused with the right word.
import assert from "node:assert/strict";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { describeSubject } from "../../src/prove/description.ts";

const COMMAND = ["node", "app.js"];

/** Refused with these words, in what happened or in what to do. */
function refuses(described: () => unknown, words: RegExp, code = "LAB_CONFIG"): void {
  assert.throws(described, (error) => {
    assert.ok(error instanceof LabError, String(error));
    assert.equal(error.code, code);
    assert.match(`${error.message}\n${error.next}`, words);
    return true;
  });
}

test("the least that can be said is a command; it has a name of one line, and no drain delay", () => {
  const subject = describeSubject({}, ["node", "-e", `\n${"x".repeat(200)}`], {});
  assert.deepEqual(subject.routes, { ordinary: "GET /" });
  assert.equal(subject.fixedDrainDelayMs, 0);
  assert.match(subject.name, /^node -e x{60,70}…$/);
});

test("values that make no sense are refused, each with what it takes", () => {
  const wrong: readonly [object, RegExp][] = [
    [{ stopSignal: "SIGKILL" }, /Stop signals are SIGTERM/],
    [{ stopSignal: "SIGFOO" }, /Stop signals are SIGTERM/],
    [{ exitCodes: { clean: 256 } }, /from 0 to 255/],
    [{ exitCodes: { clean: 1.5 } }, /from 0 to 255/],
    [{ exitCodes: { dirty: 3 } }, /Known are clean, incomplete/],
    [{ modes: { tls: { TLS: 1 } } }, /an object of texts/],
    [{ modes: { tsl: {} } }, /Did you mean tls\?/],
    [{ routes: { slow: 5 } }, /GET \/path/],
    [{ routes: ["GET /"] }, /an object/],
    [{ env: { PORT: 80 } }, /an object of texts/],
    [{ name: 7 }, /a text/],
    [{ tls: "yes" }, /true or false/],
    [{ adminPort: 9000 }, /"env": "NAME"/],
    [{ handoffStore: "STORE" }, /"env": "NAME"/],
    [{ library: "moebius" }, /Only lastcall is known/],
    [{ settings: { drainDelay: { env: "X", as: "250s" } } }, /250ms, 250, 0\.25, 0\.25s/],
    [{ drainDelay: "-1s" }, /Write a duration/],
    [{ drainDelay: 5 }, /Write a duration/],
    [{ drainDelay: "5h" }, /2m at most/],
    [{ routs: {} }, /Did you mean routes\?/],
  ];
  for (const [config, words] of wrong) {
    refuses(() => describeSubject(config as Record<string, unknown>, COMMAND, {}), words);
  }
  refuses(() => describeSubject({ command: "node app.js" }, undefined, {}), /as a list/, "LAB_USAGE");
  refuses(() => describeSubject({ command: [] }, undefined, {}), /as a list/, "LAB_USAGE");
});

test("a route has a place for what a judge must tell it, and no brace that nobody fills in; from a flag, too", () => {
  refuses(
    () => describeSubject({}, COMMAND, { slow: "GET /slow" }),
    /no place for \{seconds\}.*\n.*\?seconds=\{seconds\}/,
  );
  refuses(
    () => describeSubject({ routes: { bulk: "GET /bulk?n=5" } }, COMMAND, {}),
    /no place for \{bytes\}.*\n.*n=5&bytes=\{bytes\}/,
  );
  refuses(
    () => describeSubject({}, COMMAND, { slow: "GET /slow?s={secconds}" }),
    /\{secconds\}, which nobody fills in.*\n.*Did you mean seconds\?/,
  );
  const { slow } = describeSubject({}, COMMAND, { slow: "GET /report?wait={seconds}&of={id}" }).routes;
  assert.equal(slow, "GET /report?wait={seconds}&of={id}");
});
