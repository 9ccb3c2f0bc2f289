// The witness inside a real Node process, which is killed in the middle of a request.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import path from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { isWatched, readWitness } from "../../src/witness/lines.ts";
import { makeFolder } from "../folder.ts";

const WITNESS = new URL("../../src/witness/witness.js", import.meta.url).href;
const SERVICE = `
const server = require("node:http").createServer((req, res) => {
  if (req.url === "/hang") { req.resume(); return; }
  if (req.url === "/cut") { res.write("some"); setTimeout(() => req.socket.destroy(), 20); return; }
  req.resume().once("end", () => { res.statusCode = 201; res.end("made"); });
});
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

test("arrivals and answers are on the disk when the process is killed, and what hung has no answer", async () => {
  const file = path.join(makeFolder("witness"), "witness-A.ndjson");
  const child = spawn(process.execPath, ["--import", WITNESS, "-e", SERVICE], {
    env: { ...process.env, LASTCALL_WITNESS: file },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const ask = (to: string, id: string | null): Promise<string> =>
    new Promise((resolve) => {
      const sent = request(
        {
          host: "127.0.0.1",
          port: Number(line),
          path: to,
          method: "POST",
          agent: false,
          headers: id === null ? {} : { "x-request-id": id },
        },
        (answer) => {
          answer.resume();
          answer.once("close", () => resolve(`${answer.statusCode} ${answer.complete}`));
        },
      );
      sent.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
      sent.end("{}");
    });
  assert.equal(await ask("/", "r1-000001"), "201 true");
  assert.equal(await ask("/", null), "201 true");
  assert.equal(await ask("/cut", "r1-000002"), "200 false");
  const hanging = ask("/hang", "r1-000003");
  for (let tries = 0; !/"on":"body","n":3/.test(readFileSync(file, "utf8")) && tries < 500; tries += 1) {
    await sleep(10);
  }
  child.kill("SIGKILL");
  await hanging;
  const text = readFileSync(file, "utf8");
  assert.ok(isWatched(text));
  const told = readWitness(text, "A", 0).map(({ id, status, answeredMs, bodyMs, closedFirst }) => [
    id,
    status,
    answeredMs !== null,
    bodyMs !== null,
    closedFirst,
  ]);
  assert.deepEqual(told, [
    ["r1-000001", 201, true, true, null],
    ["r1-000002", 200, false, true, "service"],
    ["r1-000003", null, false, true, null],
  ]);
});

test("without LASTCALL_WITNESS it does nothing", async () => {
  const child = spawn(
    process.execPath,
    [
      "--import",
      WITNESS,
      "-e",
      "console.log(require('node:diagnostics_channel').hasSubscribers('http.server.request.start'))",
    ],
    { env: { ...process.env, LASTCALL_WITNESS: "" }, stdio: ["ignore", "pipe", "inherit"] },
  );
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  assert.equal(line, "false");
});
