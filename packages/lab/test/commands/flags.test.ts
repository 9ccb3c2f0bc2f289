import assert from "node:assert/strict";
import { test } from "node:test";
import { readFlags } from "../../src/commands/flags.ts";

const TYPES = { rate: "string", all: "boolean", scenario: "string" } as const;
const read = (...args: string[]): ReturnType<typeof readFlags> => readFlags("rollout", args, TYPES);
const refused =
  (code: string, ...words: RegExp[]) =>
  (error: unknown): boolean => {
    const { code: seen, message, next } = error as { code: string; message: string; next: string };
    assert.equal(seen, code);
    for (const word of words) {
      assert.match(`${message} ${next}`, word);
    }
    return true;
  };

test("flags are read in both forms, and everything after -- is the command", () => {
  assert.deepEqual(read("--rate", "5", "--all", "--", "node", "app.js", "--rate", "9"), {
    values: { rate: "5", all: true },
    command: ["node", "app.js", "--rate", "9"],
    names: [],
  });
  assert.deepEqual(read("--rate=5"), { values: { rate: "5" }, command: undefined, names: [] });
  assert.deepEqual(readFlags("report", ["a", "--rate", "5", "b"], { rate: "string" }, 2).names, ["a", "b"]);
  assert.deepEqual(read("--"), { values: {}, command: [], names: [] });
});

test("an unknown flag is refused with the nearest right one", () => {
  assert.throws(() => read("--raet", "5"), refused("LAB_USAGE", /--raet/, /Did you mean --rate\?/));
  assert.throws(() => read("-x"), refused("LAB_USAGE", /-x/));
});

test("a word that stands alone is refused with the place where a command goes", () => {
  assert.throws(() => read("node", "app.js"), refused("LAB_USAGE", /'node'/, /after --/));
});

test("a flag without its value, with one too many, or given twice is refused", () => {
  assert.throws(() => read("--rate"), refused("LAB_USAGE", /--rate needs a value/));
  assert.throws(() => read("--rate", "--all"), refused("LAB_USAGE", /--rate needs a value/));
  assert.throws(() => read("--all=yes"), refused("LAB_USAGE", /--all takes no value/));
  assert.throws(() => read("--rate", "5", "--rate", "6"), refused("LAB_USAGE", /twice/));
});
