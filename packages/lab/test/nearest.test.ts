import assert from "node:assert/strict";
import { test } from "node:test";
import { didYouMean, nearest } from "../src/nearest.ts";

test("the nearest known name is found within a few wrong letters, and nothing is guessed beyond", () => {
  const known = ["drain", "drain-short", "stop", "stop-retries"];
  assert.equal(nearest("drian", known), "drain");
  assert.equal(nearest("DRAIN", known), "drain");
  assert.equal(nearest("stop-retry", known), "stop-retries");
  assert.equal(nearest("completely-else", known), null);
});

test("a suggestion is empty where there is none", () => {
  assert.equal(didYouMean("ratee", ["rate"], "--"), "Did you mean --rate? ");
  assert.equal(didYouMean("zzzz", ["rate"], "--"), "");
});
