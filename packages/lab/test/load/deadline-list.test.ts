import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { DeadlineList } from "../../src/load/deadline-list.ts";

test("what is not removed expires in order, none early, with one timer", () => {
  mock.timers.enable({ apis: ["setTimeout", "Date"] });
  try {
    const expired: [string, number][] = [];
    const list = new DeadlineList<string>(
      () => Date.now(),
      (item) => expired.push([item, Date.now()]),
    );
    list.add("a", 100);
    list.add("b", 150);
    list.add("c", 150);
    list.add("d", 400);
    list.remove("a");
    assert.equal(list.size, 3);
    mock.timers.tick(149);
    assert.deepEqual(expired, []);
    mock.timers.tick(1);
    assert.deepEqual(expired, [
      ["b", 150],
      ["c", 150],
    ]);
    list.remove("d");
    assert.equal(list.size, 0);
    list.add("e", 500);
    mock.timers.tick(350);
    assert.deepEqual(expired.at(-1), ["e", 500]);
    list.add("f", 600);
    list.clear();
    mock.timers.tick(1000);
    assert.equal(expired.length, 3);
  } finally {
    mock.timers.reset();
  }
});
