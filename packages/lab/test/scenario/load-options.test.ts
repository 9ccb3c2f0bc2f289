import assert from "node:assert/strict";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { arrivalsInWords, arrivalsOf, loadShape } from "../../src/scenario/load-options.ts";
import { parseLoad } from "../../src/scenario/load-file.ts";

function refused(act: () => unknown, words: RegExp, code = "LAB_LOAD_PLAN"): void {
  assert.throws(act, (error) => {
    assert.ok(error instanceof LabError, String(error));
    assert.equal(error.code, code);
    assert.match(`${error.message} ${error.next}`, words);
    return true;
  });
}

test("arrivals are constant, poisson, or steps; and in words they are what was written", () => {
  assert.deepEqual(arrivalsOf(undefined, 20), { kind: "constant", ratePerSecond: 20 });
  assert.deepEqual(arrivalsOf("poisson", 20), { kind: "poisson", ratePerSecond: 20 });
  const steps = arrivalsOf("20:5s,0:1s,200:500ms", 20);
  assert.deepEqual(steps, {
    kind: "steps",
    steps: [
      { ratePerSecond: 20, forMs: 5000 },
      { ratePerSecond: 0, forMs: 1000 },
      { ratePerSecond: 200, forMs: 500 },
    ],
  });
  assert.equal(arrivalsInWords(steps), "20:5s,0:1s,200:500ms");
  for (const wrong of ["fast", "20", "20:", "-1:5s", "20:0s", "99999:5s", "20:5s,", "0:5s"]) {
    refused(() => arrivalsOf(wrong, 20), /--arrivals/, "LAB_OPTION");
  }
});

test("a load file is a mix with all that is not said filled in, and flags win over it", () => {
  const text = JSON.stringify({
    engine: "node",
    arrivals: "poisson",
    mix: [
      { path: "/a" },
      { method: "POST", path: "/b", body: { id: "{id}", n: 1 }, weight: 3 },
      {
        name: "up",
        method: "POST",
        path: "/c",
        connection: "fresh",
        upload: { bytes: "1MB", piece: "64KB", every: "10ms" },
      },
      { path: "/events", eventsFor: "2s" },
    ],
  });
  const shape = loadShape({ load: "mix.json", engine: "undici" }, 30, () => text);
  assert.equal(shape.engine, "undici");
  assert.deepEqual(shape.arrivals, { kind: "poisson", ratePerSecond: 30 });
  assert.deepEqual(shape.mix, [
    { method: "GET", path: "/a", body: null, weight: 1, name: "get", connection: "pooled" },
    {
      method: "POST",
      path: "/b",
      body: '{"id":"{id}","n":1}',
      weight: 3,
      name: "post",
      connection: "pooled",
    },
    {
      method: "POST",
      path: "/c",
      body: null,
      weight: 1,
      name: "up",
      connection: "fresh",
      upload: { bytes: 1_048_576, framing: "length", pieceBytes: 65_536, everyMs: 10 },
    },
    {
      method: "GET",
      path: "/events",
      body: null,
      weight: 1,
      name: "get",
      connection: "pooled",
      eventsForMs: 2000,
    },
  ]);
});

test("what is wrong in a load file is told with its place, what was seen and what it takes", () => {
  const file =
    (value: unknown): (() => unknown) =>
    () =>
      parseLoad("mix.json", JSON.stringify(value));
  refused(() => parseLoad("mix.json", "{"), /mix\.json is no JSON/);
  refused(file([]), /mix\.json: it is \[\]/);
  refused(file({}), /mix is missing/);
  refused(file({ mix: [] }), /mix is \[\]/);
  refused(file({ mix: [{ pth: "/" }] }), /mix\[0\] has an unknown key pth.*Did you mean path\?/);
  refused(file({ mix: [{ path: "a" }] }), /mix\[0\]\.path is "a".*begins with \//);
  refused(file({ mix: [{ path: "/", method: "PUT" }] }), /mix\[0\]\.method is "PUT".*GET or POST/);
  refused(file({ mix: [{ path: "/", weight: 0 }] }), /mix\[0\]\.weight is 0/);
  refused(file({ mix: [{ path: "/", method: "POST", upload: { bytes: "big" } }] }), /upload\.bytes is "big"/);
  refused(file({ mix: [{ path: "/", upload: { bytes: 1 } }] }), /mix\[0\]\.upload/);
  refused(file({ mix: [{ path: "/", eventsFor: "2" }] }), /eventsFor is "2"/);
  refused(file({ mix: [{ path: "/" }], workers: "x" }), /workers is "x"/);
});
