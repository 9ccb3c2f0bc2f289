import assert from "node:assert/strict";
import { createServer } from "node:http";
import { connect } from "node:net";
import { test } from "node:test";
import { rig } from "./rig.ts";

const CLIENTS = 300;

/** Resolves with all that came until a whole 503 did, or the connection ended. */
function ask(port: number): { readonly sent: Promise<void>; readonly answer: Promise<string> } {
  const socket = connect(port, "127.0.0.1");
  const sent = new Promise<void>((resolve) => {
    socket.once("connect", () => {
      socket.write("GET /stuck HTTP/1.1\r\nHost: x\r\n\r\n", () => resolve());
    });
  });
  const answer = new Promise<string>((resolve) => {
    let seen = "";
    const done = (): void => {
      socket.destroy();
      resolve(seen);
    };
    socket.setEncoding("utf8").on("data", (part) => {
      seen += part;
      if (seen.endsWith('{"error":"draining"}')) {
        done();
      }
    });
    socket.once("close", done).once("error", done);
  });
  return { sent, answer };
}

test("C1 each of a crowd of stuck requests gets its clean 503 at the deadline, and is counted as unfinished", async () => {
  let arrived = 0;
  let all = (): void => {};
  const allArrived = new Promise<void>((resolve) => {
    all = resolve;
  });
  const server = createServer(() => {
    arrived += 1;
    if (arrived === CLIENTS) {
      all();
    }
  });
  const { port, stop, record } = await rig(server, { gracefulTimeoutMs: 600, abortWindowMs: 100 });
  const clients = Array.from({ length: CLIENTS }, () => ask(port));
  await Promise.all(clients.map(({ sent }) => sent));
  await allArrived;
  stop();
  const answers = await Promise.all(clients.map(({ answer }) => answer));
  assert.equal(
    answers.filter((answer) => /^HTTP\/1\.1 503 .*Connection: close/s.test(answer)).length,
    CLIENTS,
  );
  const { requests, outcome } = await record;
  assert.equal(requests.unfinished, CLIENTS);
  assert.equal(outcome, "incomplete");
});
