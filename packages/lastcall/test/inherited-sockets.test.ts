import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { suite, test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { ask, AUTO, fixture, start, type Child } from "./child.ts";
import { startClients } from "./clients.ts";

/** Python can listen without accepting, as systemd does. */
const activator = fileURLToPath(new URL("../../test/fixtures/activator.py", import.meta.url));

const isHere = process.env["CI"] !== undefined || spawnSync("python3", ["--version"]).status === 0;
const skip = isHere ? false : "python3 is not here";

interface Setup {
  readonly ports?: string;
  readonly variables?: string;
  readonly program?: string;
  readonly args?: readonly string[];
}

function activate(t: TestContext, { ports = "0", variables, program, args = [] }: Setup): Child {
  return start(t, activator, {
    command: ["python3"],
    stdin: true,
    args: [
      ports,
      variables ?? "LISTEN_FDS=1,LISTEN_PID=self",
      process.execPath,
      "--import",
      AUTO,
      fixture(program ?? "activated-app"),
      ...args,
    ],
    // On a machine that is busy a client may be slow to send its request.
    env: { LASTCALL_GRACE_PERIOD: "20s", LASTCALL_LINGER: "3s" },
  });
}

suite("systemd's socket activation", { concurrency: 2, skip }, () => {
  test("A8 no connection is lost over four restarts under load: they wait in the socket's queue", async (t) => {
    const child = activate(t, { args: ["same"] });
    await child.said("serves 1 ");
    const port = Number(/ports (\d+)/.exec(child.stdout())?.[1]);
    const clients = startClients(port);
    for (let n = 0; n < 4; n += 1) {
      const ended = child.stdout().match(/^serves/gm)?.length ?? 0;
      child.process.stdin?.write("restart\n");
      while ((child.stdout().match(/^serves/gm)?.length ?? 0) === ended) {
        await child.more();
      }
    }
    assert.deepEqual([...(await clients.end()).keys()], [200]);
    child.process.stdin?.write("stop\n");
    assert.equal(await child.ended(), 0);
    assert.equal(child.stdout().match(/^ended 0$/gm)?.length, 5);
  });

  test("an app that listens on another port gets the socket that bears that port as its name", async (t) => {
    const child = activate(t, {
      variables: "LISTEN_FDS=1,LISTEN_PID=self,LISTEN_FDNAMES=3000",
      args: ["3000"],
    });
    await child.said("serves ");
    const port = Number(/ports (\d+)/.exec(child.stdout())?.[1]);
    assert.equal((await ask(port, "/")).status, 200);
    child.process.stdin?.write("stop\n");
    await child.ended();
  });

  test("code of one's own asks for the sockets", async (t) => {
    const child = activate(t, { args: ["explicit"] });
    await child.said("serves ");
    const port = Number(/ports (\d+)/.exec(child.stdout())?.[1]);
    assert.equal((await ask(port, "/")).status, 200);
    child.process.stdin?.write("stop\n");
    assert.equal(await child.ended(), 0);
  });

  const lies = [
    { what: "a wrong pid", variables: "LISTEN_FDS=1,LISTEN_PID=1", says: /for process 1, and this is \d+/ },
    { what: "no pid", variables: "LISTEN_FDS=1", says: /LISTEN_PID is not set/ },
    { what: "no number", variables: "LISTEN_FDS=many,LISTEN_PID=self", says: /LISTEN_FDS is 'many'/ },
    {
      what: "a count too large",
      variables: "LISTEN_FDS=3,LISTEN_PID=self",
      says: /LISTEN_FDS is 3, but descriptors 4 and 5 are no listening socket/,
    },
    {
      what: "a descriptor that is none",
      variables: "LISTEN_FDS=1,LISTEN_PID=self",
      ports: "",
      says: /LISTEN_FDS is 1, but descriptor 3 is no listening socket/,
    },
    {
      what: "a port that the app does not want",
      variables: "LISTEN_FDS=1,LISTEN_PID=self",
      says: /The app listens on 127\.0\.0\.1:0, and systemd has passed 127\.0\.0\.1:\d+ \('unknown'\)/,
    },
  ];
  for (const { what, variables, ports, says } of lies) {
    test(`${what}: named with a code, and the app starts and listens as it says itself`, async (t) => {
      const child = activate(t, { variables, ...(ports === undefined ? {} : { ports }), args: ["0"] });
      const port = await child.port();
      assert.match(child.stderr(), says);
      assert.match(child.stderr(), /\[LASTCALL_LISTEN_FDS\]/);
      assert.equal((await ask(port, "/")).status, 200);
      child.process.stdin?.write("stop\n");
      assert.equal(await child.ended(), 0);
    });
  }
});
