import assert from "node:assert/strict";
import { test } from "node:test";
import { classifyLine, createCaddyReader, parseLine, wordsOf } from "../../src/router/caddy-log.ts";
import { classOfTermination, readHaproxyLog } from "../../src/router/haproxy-log.ts";
import { readNginxAccess } from "../../src/router/nginx-access.ts";

test("HAProxy's termination states are the classes of the verdict", () => {
  const expected = {
    "--": null,
    CD: null,
    SC: "connect-refused",
    sC: "timeout",
    SH: "upstream-closed",
    sH: "timeout",
    SD: "upstream-closed",
    DH: "cut-by-router",
    PH: "no-http",
    RC: "router-limit",
    IH: "other",
  };
  for (const [termination, kind] of Object.entries(expected)) {
    assert.equal(classOfTermination(termination, "127.0.0.1:9001"), kind, termination);
  }
  assert.equal(classOfTermination("SC", "<NOSRV>"), "no-upstream");
});

test("a line of HAProxy's is found by its id, and a failure names upstream and request", () => {
  const line = (fields: object): string =>
    JSON.stringify({
      at: 1500,
      id: "r1-000001",
      request: "POST /orders?id=r1-000001",
      status: 503,
      server: "127.0.0.1:9001",
      termination: "SC",
      retries: "0",
      waitMs: 0,
      connectMs: -1,
      responseMs: -1,
      activeMs: 2,
      bytes: 107,
      ...fields,
    });
  const text = `[NOTICE] hello\n${line({})}\n${line({ id: "r1-000002", status: 200, termination: "--", retries: "+1", connectMs: 1, responseMs: 9 })}\n{"at":15`;
  const { byId, failures } = readHaproxyLog(text, 1000);
  assert.deepEqual(byId.get("r1-000001"), {
    atMs: 500,
    status: 503,
    tries: [{ address: "127.0.0.1:9001", status: null, connectMs: null, responseMs: null }],
    retries: 0,
    termination: "SC",
    class: "connect-refused",
    bytes: 107,
  });
  assert.equal(byId.get("r1-000002")?.retries, 1);
  assert.equal(failures.length, 1);
  assert.match(
    failures[0]?.text ?? "",
    /upstream: "127\.0\.0\.1:9001", request: "POST \/orders\?id=r1-000001"/,
  );
});

test("a line of nginx's has one try for each upstream", () => {
  const line = {
    at: 1.5,
    id: "r1-000001",
    status: 200,
    upstream: "127.0.0.1:9001, 127.0.0.1:9002",
    upstream_status: "502, 200",
    connect_time: "-, 0.001",
    upstream_time: "0.000, 0.300",
    completion: "OK",
    bytes: 12,
  };
  const found = readNginxAccess(`${JSON.stringify(line)}\n{"at"`, 1000).get("r1-000001");
  assert.equal(found?.atMs, 500);
  assert.equal(found.retries, 1);
  assert.deepEqual(found.tries, [
    { address: "127.0.0.1:9001", status: 502, connectMs: null, responseMs: 0 },
    { address: "127.0.0.1:9002", status: 200, connectMs: 1, responseMs: 300 },
  ]);
});

test("Caddy's access log is joined with its remarks on each try, by id", () => {
  const request = (id: string): object => ({
    method: "GET",
    uri: `/work?id=${id}`,
    headers: { "X-Request-Id": [id] },
  });
  const line = (id: string, fields: object): string =>
    JSON.stringify({
      ts: 1.5,
      msg: "handled request",
      request: request(id),
      duration: 0.3,
      size: 5,
      ...fields,
    });
  const remark = (id: string, port: number, fields: object): string =>
    JSON.stringify({
      ts: 1.4,
      msg: "upstream roundtrip",
      upstream: `127.0.0.1:${port}`,
      duration: 0.1,
      request: request(id),
      ...fields,
    });
  const refused = "dial tcp 127.0.0.1:9001: connect: connection refused";
  const because = (error: string): object => ({ status: 502, resp_headers: { "X-Lastcall-Error": [error] } });
  const access = [
    line("r1-000001", { status: 200 }),
    line("r1-000002", because(refused)),
    line("r1-000003", because("context canceled")),
    line("r1-000004", because("no upstreams available")),
    line("r1-000005", { status: 200 }),
    '{"level":"info"',
  ].join("\n");
  const remarks = [
    remark("r1-000001", 9001, { error: refused }),
    remark("r1-000001", 9002, { status: 200 }),
    remark("r1-000002", 9001, { error: refused }),
    remark("r1-000003", 9001, { error: "context canceled" }),
  ].join("\n");
  const reader = createCaddyReader(1000, (id) => id !== "r1-000005");
  reader.remarks(remarks);
  reader.access(access);
  const { byId, failures } = reader.log;
  assert.equal(byId.has("r1-000005"), false, "nobody asks for what went well");
  assert.deepEqual(byId.get("r1-000001"), {
    atMs: 500,
    status: 200,
    tries: [
      { address: "127.0.0.1:9001", status: null, connectMs: null, responseMs: null },
      { address: "127.0.0.1:9002", status: 200, connectMs: null, responseMs: 100 },
    ],
    retries: 1,
    termination: null,
    class: null,
    bytes: 5,
  });
  assert.equal(byId.get("r1-000002")?.class, "connect-refused");
  assert.deepEqual(
    failures.map((failure) => [failure.class, failure.text]),
    [
      ["connect-refused", `${refused}, upstream: "127.0.0.1:9001", request: "GET /work?id=r1-000001"`],
      ["connect-refused", `${refused}, upstream: "127.0.0.1:9001", request: "GET /work?id=r1-000002"`],
      ["no-upstream", 'no upstreams available, answered 502, request: "GET /work?id=r1-000004"'],
    ],
    "a client that left is no failure",
  );
});

test("an answer that Caddy had to break off is told beside its access log", () => {
  const line = parseLine(
    '{"level":"error","logger":"http.handlers.reverse_proxy","msg":"aborting with incomplete response","error":"unexpected EOF","request":{"method":"GET","uri":"/work?id=1"}}',
  );
  assert.ok(line !== null);
  assert.equal(classifyLine(line), "upstream-closed");
  assert.match(wordsOf(line, line.error ?? ""), /request: "GET \/work\?id=1"/);
});
