import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Admission, type Exchange } from "../src/admission.ts";

function exchange(): Exchange {
  return { startedAt: 0, open: 1, clientGone: false, previous: null, next: null, route: () => "GET /" };
}

test("A9 at every instant accepted = completed + in flight, and in the end in flight is unfinished", () => {
  const action = fc.constantFrom("begin", "settle", "gone", "forget", "refuse", "hold", "fix");
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), (actions) => {
      const admission = new Admission(() => {});
      const open: Exchange[] = [];
      for (const one of actions) {
        const first = open[0];
        if (one === "begin") {
          const begun = exchange();
          open.push(begun);
          admission.begin(begun);
        } else if (one === "refuse") {
          admission.refuse("503");
        } else if (one === "fix") {
          admission.fix();
        } else if (first !== undefined) {
          if (one === "hold") {
            first.open += 1;
          } else if (one === "forget") {
            admission.forget(first);
            open.shift();
          } else {
            first.clientGone = one === "gone";
            admission.settle(first);
            if (first.open === 0) {
              open.shift();
            }
          }
        }
        const counts = admission.counts();
        assert.equal(admission.inFlight.size, open.length);
        assert.ok(counts.clientGone <= counts.completed);
        if (!actions.includes("fix")) {
          assert.equal(counts.accepted, counts.completed + admission.inFlight.size);
          assert.equal(counts.unfinished, admission.inFlight.size);
        }
      }
    }),
  );
});

test("what is in flight when the counts are fixed stays unfinished, also when it ends afterwards", () => {
  const admission = new Admission(() => {});
  const late = exchange();
  admission.begin(late);
  admission.fix();
  admission.settle(late);
  const { accepted, completed, unfinished } = admission.counts();
  assert.deepEqual({ accepted, completed, unfinished }, { accepted: 1, completed: 0, unfinished: 1 });
});

test("B10 an exchange that waits for two things ends with the second", () => {
  let ended = 0;
  const admission = new Admission(() => {
    ended += 1;
  });
  const both = { ...exchange(), open: 2 };
  admission.begin(both);
  admission.settle(both);
  assert.equal(ended, 0);
  admission.settle(both);
  assert.equal(ended, 1);
});

test("what is refused was never accepted, and is counted by how", () => {
  const admission = new Admission(() => {});
  admission.refuse("503");
  admission.refuse("503");
  admission.refuse("dropped");
  const { accepted, completed, refused } = admission.counts();
  assert.deepEqual([accepted, completed], [0, 0]);
  assert.deepEqual(refused, { "503": 2, "408": 0, "400": 0, dropped: 1 });
});

test("a client that has gone away is part of completed", () => {
  const admission = new Admission(() => {});
  const gone = { ...exchange(), clientGone: true };
  admission.begin(gone);
  admission.settle(gone);
  const { accepted, completed, clientGone } = admission.counts();
  assert.deepEqual([accepted, completed, clientGone], [1, 1, 1]);
});

test("a probe that is forgotten was never accepted, and its end is an end", () => {
  let ended = 0;
  const admission = new Admission(() => {
    ended += 1;
  });
  const probe = exchange();
  admission.begin(probe);
  admission.forget(probe);
  admission.forget(probe);
  admission.settle(probe);
  const { accepted, completed, unfinished } = admission.counts();
  assert.deepEqual([accepted, completed, unfinished, ended], [0, 0, 0, 1]);
});

test("counts are fixed once, and admission ends with the gate", () => {
  const admission = new Admission(() => {});
  admission.begin(exchange());
  admission.fix();
  admission.begin(exchange());
  admission.fix();
  assert.equal(admission.counts().unfinished, 1);
  assert.equal(admission.gate, "open");
  assert.equal(admission.admits(), true);
  admission.gate = "linger";
  assert.equal(admission.admits(), true);
  admission.gate = "closed";
  assert.equal(admission.admits(), false);
});
