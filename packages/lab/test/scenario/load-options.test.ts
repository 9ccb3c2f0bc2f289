import assert from "node:assert/strict";
import { test } from "node:test";
import { LabError } from "../../src/errors.ts";
import { arrivalsInWords, arrivalsOf, loadShape, speechOf } from "../../src/scenario/load-options.ts";
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
      { name: "chat", path: "/ws", webSocketFor: "10s", messageEvery: "100ms" },
      { path: "/any", webSocketFor: "1s", message: "hello", answer: "any" },
      { path: "/h2", protocol: "h2" },
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
    {
      method: "GET",
      path: "/ws",
      body: null,
      weight: 1,
      name: "chat",
      connection: "pooled",
      webSocket: { forMs: 10_000, everyMs: 100, message: "{id}:{n};", answer: "echo" },
    },
    {
      method: "GET",
      path: "/any",
      body: null,
      weight: 1,
      name: "get",
      connection: "pooled",
      webSocket: { forMs: 1000, everyMs: 200, message: "hello", answer: "any" },
    },
    {
      method: "GET",
      path: "/h2",
      body: null,
      weight: 1,
      name: "get",
      connection: "pooled",
      protocol: "h2",
    },
  ]);
  assert.deepEqual(speechOf(shape), { http2: "beside", webSockets: true });
});

test("--protocol h2 is for all but WebSockets, and a router is asked for no more than the load needs", () => {
  const text = JSON.stringify({ mix: [{ path: "/a" }, { path: "/ws", webSocketFor: "1s" }] });
  const spoken = loadShape({ load: "mix.json", protocol: "h2" }, 20, () => text);
  assert.deepEqual(
    spoken.mix?.map(({ protocol }) => protocol),
    ["h2", undefined],
  );
  assert.deepEqual(speechOf(spoken), { http2: "beside", webSockets: true });
  assert.deepEqual(speechOf(loadShape({ protocol: "h2" }, 20, () => "")), { http2: "only" });
  assert.deepEqual(speechOf(loadShape({}, 20, () => "")), {});
  refused(() => loadShape({ protocol: "h3" }, 20, () => ""), /protocol/, "LAB_OPTION");
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
  refused(file({ mix: [{ path: "/", webSocketFor: 5 }] }), /webSocketFor is 5/);
  refused(file({ mix: [{ path: "/", messageEvery: "1s" }] }), /webSocketFor is missing.*messageEvery/);
  refused(file({ mix: [{ path: "/", webSocketFor: "5s", protocol: "h2" }] }), /a GET of HTTP\/1\.1/);
  refused(file({ mix: [{ path: "/", webSocketFor: "5s", method: "POST" }] }), /a GET of HTTP\/1\.1/);
  refused(file({ mix: [{ path: "/", webSocketFor: "5s", message: "hello" }] }), /message is "hello".*\{n\}/);
  refused(file({ mix: [{ path: "/", protocol: "h3" }] }), /protocol is "h3".*http\/1\.1 or h2/);
});
