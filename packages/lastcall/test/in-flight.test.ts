import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { InFlight, type Linked } from "../src/in-flight.ts";

interface Member extends Linked<Member> {
  readonly id: number;
}

test("the ring of what is in flight does what a Set does", () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.boolean(), fc.nat({ max: 5 })), { maxLength: 60 }), (steps) => {
      const members = Array.from({ length: 6 }, (_, id): Member => ({ id, previous: null, next: null }));
      const ring = new InFlight<Member>();
      const set = new Set<Member>();
      for (const [isAdding, id] of steps) {
        const member = members[id];
        assert.ok(member !== undefined);
        if (!isAdding) {
          assert.equal(ring.delete(member), set.delete(member));
        } else if (!set.has(member)) {
          ring.add(member);
          set.add(member);
        }
        assert.deepEqual(
          [...ring].map((each) => each.id),
          [...set].map((each) => each.id),
        );
        assert.equal(ring.size, set.size);
      }
    }),
  );
});

test("members may leave while the ring is read", () => {
  const ring = new InFlight<Member>();
  for (let id = 0; id < 5; id += 1) {
    ring.add({ id, previous: null, next: null });
  }
  const read: number[] = [];
  for (const member of ring) {
    read.push(member.id);
    for (const each of ring) {
      ring.delete(each);
    }
  }
  assert.deepEqual(read, [0, 1, 2, 3, 4]);
  assert.equal(ring.size, 0);
});
