import assert from "node:assert/strict";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { parseConfig } from "../../src/scenario/config.ts";

const NAMES = { rate: "string", all: "boolean", command: "list", propagation: "string" } as const;
const parse = (text: string): unknown => parseConfig(text, "rollout", NAMES);

test("the file says what the flags say, under the same names; numbers need no quotes", () => {
  assert.deepEqual(parse('{"rollout": {"rate": 50, "all": true, "command": ["node", "a.js"]}, "lint": {}}'), {
    rate: "50",
    all: true,
    command: ["node", "a.js"],
  });
  assert.deepEqual(parse("{}"), {});
});

for (const [text, words] of [
  ["{", /no JSON.*Correct it/],
  ["[]", /holds no object/],
  ['{"rolout": {}}', /unknown key rolout.*Did you mean rollout\?/],
  ['{"rollout": []}', /no object/],
  ['{"rollout": {"raet": 5}}', /unknown key rollout\.raet.*Did you mean rate\?/],
  ['{"rollout": {"rate": true}}', /rollout\.rate .*true.*a string or a number/],
  ['{"rollout": {"all": "yes"}}', /true or false/],
  ['{"rollout": {"command": "node a.js"}}', /a list of strings/],
] as const) {
  test(`refused with what was seen and what to do: ${text}`, () => {
    assert.throws(
      () => parse(text),
      (error) => {
        assert.ok(error instanceof LabError);
        assert.equal(error.code, "LAB_CONFIG");
        assert.match(`${error.message} ${error.next}`, words);
        return true;
      },
    );
  });
}

test("the invisible mark that editors on Windows put first is no mistake", () => {
  assert.deepEqual(parseConfig('\uFEFF{"rollout": {"rate": 5}}', "rollout", { rate: "string" }), {
    rate: "5",
  });
});
