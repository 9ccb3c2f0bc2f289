/** A loop that stands still over the gate and the end of the linger window finds everything at once: nobody is reset for that. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { dial, httpServer, rig } from "./rig.ts";

const ASK = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

function stall(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test("A5 a request that came within the linger window is served, though the loop has read it only when the window was over", async () => {
  const server = httpServer("plain", (_, response) => response.end("ok"));
  const { port, stop, reaches, record } = await rig(server, { lingerMs: 300 });
  const client = await dial(port);
  client.send(ASK);
  await client.until(/ok$/);
  stop();
  await reaches("draining");
  client.send(ASK);
  stall(500);
  await client.ended;
  assert.match(client.text(), /ok$/);
  assert.equal((await record).requests.refused["503"], 0);
});

const CLIENTS = 60;

/** At a line on its standard input: so many connections, a request on each; then what has become of them, as JSON. */
const CROWD = `
const net = require("node:net");
process.stdin.once("data", (port) => {
  console.error("sends");
  const fates = {};
  let open = ${CLIENTS};
  for (let n = 0; n < ${CLIENTS}; n += 1) {
    const socket = net.connect({ port: Number(port), host: "127.0.0.1" });
    socket.write(${JSON.stringify(ASK)});
    let text = "";
    socket.on("data", (part) => (text += part));
    socket.on("error", ({ code }) => (text ||= code));
    socket.on("close", () => {
      const fate = text.startsWith("HTTP") ? text.split(" ")[1] : text || "closed";
      fates[fate] = (fates[fate] ?? 0) + 1;
      if ((open -= 1) === 0) console.log(JSON.stringify(fates));
    });
  }
});
console.error("ready");
`;

test("A8 a queue that has grown behind a stalled loop is served to the last, be the window over or not", async (t) => {
  // Slower than the window is long, all of them together.
  const server = httpServer("plain", (_, response) => {
    stall(8);
    response.end("ok");
  });
  const { life, port, stop, record } = await rig(server);
  const crowd = spawn(process.execPath, ["-e", CROWD], { stdio: ["pipe", "pipe", "pipe"] });
  t.after(() => crowd.kill());
  const fatesTold = once(crowd.stdout, "data");
  await once(crowd.stderr, "data");
  crowd.stdin.write(`${port}\n`);
  await once(crowd.stderr, "data");
  life.events.on("state", ({ to }) => {
    if (to === "draining") {
      stall(600);
    }
  });
  stop();
  const [text] = (await fatesTold) as [Buffer];
  const fates = JSON.parse(text.toString()) as Record<string, number>;
  const { 200: served = 0, ECONNREFUSED: refused = 0, ...others } = fates;
  // Neither reset nor told 503, after which no router tries the next copy.
  assert.deepEqual(others, {});
  assert.equal(served + refused, CLIENTS);
  await record;
});
