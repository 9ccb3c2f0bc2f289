// Rolling restarts under WebSockets and HTTP/2: what is cut is named, and the library loses nothing of either.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Verdict } from "../../src/verdict/verdict.ts";
import { makeFolder } from "../folder.ts";

const LASTCALL = fileURLToPath(new URL("../../../bin/lastcall.js", import.meta.url));
const FAULTS = fileURLToPath(new URL("../../../../../fixtures/faults/", import.meta.url));
const SERVICE = fileURLToPath(new URL("../fixtures/h2c-service.js", import.meta.url));
const folder = makeFolder("protocols");

const CHAT = path.join(folder, "chat.json");
writeFileSync(
  CHAT,
  JSON.stringify({
    mix: [
      { path: "/work?seconds=0.2&id={id}", weight: 5 },
      { name: "chat", path: "/ws", webSocketFor: "4s", messageEvery: "100ms" },
    ],
  }),
);

function rollout(
  name: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<{ readonly code: number; readonly verdict: Verdict; readonly err: string }> {
  const all = ["rollout", "--json", "--router=embedded", `--out=${path.join(folder, name)}`, ...args];
  return new Promise((resolve, reject) => {
    execFile(
      process.execPath,
      [LASTCALL, ...all],
      { cwd: FAULTS, env: { ...process.env, ...env }, maxBuffer: 2 ** 26 },
      (error, text, err) => {
        if (text === "") {
          reject(new Error(err));
          return;
        }
        const { rows } = JSON.parse(text) as { readonly rows: readonly { readonly verdict: Verdict }[] };
        const [row] = rows;
        resolve({ code: Number(error?.code ?? 0), verdict: row?.verdict ?? assert.fail("no row"), err });
      },
    );
  });
}

/** A machine that is too busy proves nothing, and says so. */
function isValid({ code, verdict }: Awaited<ReturnType<typeof rollout>>): boolean {
  if (verdict.outcome === "invalid") {
    assert.equal(code, 4);
    assert.match(verdict.headline, /dispatch lag|too busy/);
  }
  return verdict.outcome !== "invalid";
}

/** What was lost or cut, and who had to be killed: neither what a pinning balancer makes of any run, nor what was slow on a busy machine. */
const found = ({ kinds }: Verdict): readonly string[] =>
  kinds
    .filter(({ count, fails, examples }) =>
      count === 0 ? fails : examples.some(({ harm }) => harm !== "slowed"),
    )
    .map(({ id }) => id);

describe("WebSockets and HTTP/2 in a rolling restart", { concurrency: 2 }, () => {
  test("the library tells every WebSocket to go, all come back, and no message is lost", async () => {
    const run = await rollout("chat", [`--load=${CHAT}`]);
    const { verdict } = run;
    if (isValid(run)) {
      const seen = verdict.webSockets ?? assert.fail("no WebSockets");
      assert.deepEqual([found(verdict), seen.cut, seen.unanswered], [[], 0, 0], verdict.headline);
      assert.ok((seen.closeCodes["1001"] ?? 0) > 0 && seen.cameBack > 0, JSON.stringify(seen));
      assert.equal(seen.messages, seen.answered + seen.crossed);
    }
  });

  test("WebSockets that go down with their copy are K43, beside requests that are drained well", async () => {
    const run = await rollout("ws-cut", [
      "--scenario=stop",
      "--propagation=400ms",
      "--grace=5s",
      "--load=loads/chat.json",
      "--",
      "node",
      "node/ws-cut.mjs",
    ]);
    if (isValid(run)) {
      assert.deepEqual([run.code, found(run.verdict)], [1, ["K43"]], run.verdict.headline);
      assert.ok((run.verdict.webSockets?.cut ?? 0) > 0);
    }
  });

  const H2 = ["--protocol=h2", "--pooled-at-removal=pinned", "--rate=40"];
  test("the library answers every stream of HTTP/2, also those that its GOAWAY meets on the way", async () => {
    const run = await rollout("h2c", [
      ...H2,
      "--get=/work?id={id}",
      "--ready=/readyz",
      "--",
      "node",
      SERVICE,
    ]);
    const { verdict } = run;
    if (isValid(run)) {
      assert.deepEqual(found(verdict), [], verdict.headline);
      assert.deepEqual([verdict.http2?.sent, verdict.http2?.failed], [verdict.requests.sent, 0]);
      assert.ok(verdict.exposure.sent > 0);
    }
  });

  test("sessions that are destroyed are K21", async () => {
    const run = await rollout("h2-goaway", [
      "--scenario=stop",
      "--propagation=400ms",
      "--grace=5s",
      ...H2,
      "--get=/work",
      "--",
      "node",
      "node/h2-goaway.mjs",
    ]);
    if (isValid(run)) {
      assert.ok(found(run.verdict).includes("K21"), run.verdict.headline);
      assert.equal(run.code, 1);
    }
  });
});
