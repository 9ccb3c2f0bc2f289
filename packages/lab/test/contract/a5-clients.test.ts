/** A5 and A8 with the clients that real programs use: Node's agent, undici's pool, and nginx with upstream keep-alive. */

import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { Agent, type ClientRequestArgs, request } from "node:http";
import { type Socket, connect } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Pool } from "undici";
import type { Judgement } from "../../src/contract/clause.ts";
import type { Copy } from "../../src/contract/copy.ts";
import { type Hearing, hearing } from "../../src/contract/court.ts";
import type { Setting, Subject } from "../../src/contract/subject.ts";
import { startRunClock } from "../../src/ledger/clock.ts";
import { startNginx } from "../../src/router/nginx.ts";
import type { FoundRouter } from "../../src/router/router.ts";
import { realNginx } from "../real-parts.ts";
import { PLAIN } from "../router/behaviour.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { tell } from "./proving.ts";
import { naive, service } from "./services.ts";

/** Sends one POST and resolves with its status; rejects when no whole answer came. */
interface Client {
  post(): Promise<number>;
  close(): Promise<void>;
}

/** No copy and no nginx outlives the test. */
const guardian = startGuardian();
after(() => guardian.close());

const WORKERS = 24;
/** Raise it for a long run: 12 restarts are about 10,000 requests. */
const RESTARTS = Number(process.env["LASTCALL_TEST_RESTARTS"] ?? 3);
const BODY = "an order";

function nodeClient(port: () => number): Client {
  class Switching extends Agent {
    override createConnection(): Socket {
      return connect({ host: "127.0.0.1", port: port() });
    }
  }
  const agent = new Switching({ keepAlive: true, maxSockets: WORKERS });
  const options: ClientRequestArgs = { agent, host: "127.0.0.1", port: 80, method: "POST", path: "/upload" };
  return {
    post: () =>
      new Promise((resolve, reject) => {
        const sent = request(
          { ...options, headers: { "Content-Length": Buffer.byteLength(BODY) } },
          (response) => {
            response.once("error", reject).once("end", () => resolve(response.statusCode ?? 0));
            response.resume();
          },
        );
        sent.once("error", reject);
        sent.end(BODY);
      }),
    close: async () => agent.destroy(),
  };
}

function undiciClient(port: () => number): Client {
  const pool = new Pool("http://127.0.0.1", {
    connections: WORKERS,
    connect: (_options, callback) => {
      const socket = connect({ host: "127.0.0.1", port: port() });
      socket.once("connect", () => {
        socket.removeListener("error", failed);
        callback(null, socket);
      });
      const failed = (error: Error): void => callback(error, null);
      socket.once("error", failed);
    },
  });
  return {
    post: async () => {
      const { statusCode, body } = await pool.request({ method: "POST", path: "/upload", body: BODY });
      await body.dump();
      return statusCode;
    },
    close: () => pool.close(),
  };
}

interface Tally {
  sent: number;
  /** Begun while a copy was leaving. */
  exposed: number;
  readonly lost: string[];
}

/** Closed loops of POSTs until told to stop. */
function load(client: Client, leaving: () => boolean): { readonly tally: Tally; stop(): Promise<void> } {
  const tally: Tally = { sent: 0, exposed: 0, lost: [] };
  const over = new AbortController();
  const worker = async (): Promise<void> => {
    while (!over.signal.aborted) {
      tally.sent += 1;
      tally.exposed += leaving() ? 1 : 0;
      try {
        const status = await client.post();
        if (status !== 200) {
          tally.lost.push(`status ${status}`);
        }
      } catch (error) {
        tally.lost.push(`${(error as NodeJS.ErrnoException).code ?? "?"}: ${(error as Error).message}`);
      }
      // A client computes between two requests; without a pause the machine itself would be measured.
      await pause(2);
    }
  };
  const workers = Array.from({ length: WORKERS }, worker);
  return {
    tally,
    stop: async () => {
      over.abort();
      await Promise.all(workers);
      await client.close();
    },
  };
}

/** Restarts under load. The router's lag is over before the gate closes: it is closed by a second signal, after the switch. */
async function restart(court: Hearing, make: (port: () => number) => Client): Promise<Tally> {
  const set: Partial<Record<Setting, number | string>> = {
    gracePeriod: 60_000,
    drainDelay: 20_000,
    leaveOrder: "announce-first",
    gracefulTimeout: 4000,
  };
  let leaving: Copy | null = null;
  let current = await court.start({ set });
  let { port } = current;
  const { tally, stop } = load(
    make(() => port),
    () => leaving?.running === true,
  );
  for (let n = 0; n < RESTARTS; n += 1) {
    // One restart after the other.
    const next = await court.start({ set });
    await pause(100);
    leaving = current;
    current.signal();
    await pause(100);
    ({ port } = next);
    await pause(300);
    current.signal();
    await current.exited;
    current = next;
  }
  await stop();
  return tally;
}

/** Runs the load through restarts of `subject`; broken when a request was lost. */
function judgeLossless(
  subject: Subject,
  run: (court: Hearing) => Promise<Tally>,
  say: (line: string) => void,
): Promise<Judgement> {
  return hearing({ ...subject, guardian }, [], async (court: Hearing) => {
    const { sent, exposed, lost } = await run(court);
    say(`${sent} POSTs, ${exposed} of them while a copy was leaving, ${lost.length} lost`);
    court.measure("sent", sent);
    court.measure("exposed", exposed);
    court.demand(
      lost.length === 0,
      `${lost.length} of ${sent} POSTs were lost: ${[...new Set(lost)].join(", ")}`,
      {
        // Connections that wait in the accept queue at the gate are A8's: one in tens of thousands is lost on a busy machine. What
        // is lost for a reason is lost in every run.
        timing: subject === service,
        todo: "Find the first of them in the trace of its connection.",
      },
    );
    court.demand(exposed > 100, `Only ${exposed} POSTs were sent while a copy was leaving.`, {
      todo: "Make the load heavier: the run shows nothing.",
    });
  });
}

/** The library loses nothing; plain Node does, so that the load can see a loss. */
async function proves(run: (court: Hearing) => Promise<Tally>, say: (line: string) => void): Promise<void> {
  const judgement = await judgeLossless(service, run, say);
  assert.equal(judgement.kind, "kept", tell(judgement));
  // What the control loses it loses by chance, a few in a run: three quiet runs in a row would be none.
  let control = await judgeLossless(naive("close"), run, say);
  for (let again = 0; again < 2 && control.kind !== "broken"; again += 1) {
    control = await judgeLossless(naive("close"), run, say);
  }
  assert.equal(control.kind, "broken", `the control must lose: ${tell(control)}`);
}

/** Two copies on fixed ports behind one nginx that nobody tells; each is restarted in turn. */
async function restartBehindNginx(court: Hearing, found: FoundRouter, folder: string): Promise<Tally> {
  const set: Partial<Record<Setting, number | string>> = {
    drainDelay: 200,
    leaveOrder: "listener-first",
    linger: 700,
    gracefulTimeout: 4000,
  };
  const copies = [await court.start({ set }), await court.start({ set })];
  const upstreams = copies.map((copy, n) => ({ copy: `copy-${n}`, host: "127.0.0.1", port: copy.port }));
  const router = await startNginx(
    found,
    { ...PLAIN, port: 0, retries: true, upstreamKeepAlive: true, clientKeepAlive: true, folder },
    upstreams,
    {
      clock: startRunClock(),
      guardian,
      emit: () => {},
      findPort: async () => {
        const free = await court.start({});
        await free.kill();
        return free.port;
      },
    },
  );
  try {
    let leaving: Copy | null = null;
    const { tally, stop } = load(
      nodeClient(() => router.port),
      () => leaving?.running === true,
    );
    for (let n = 0; n < RESTARTS; n += 1) {
      const at = n % copies.length;
      const old = copies[at];
      if (old !== undefined) {
        await pause(150);
        leaving = old;
        old.signal();
        await old.exited;
        copies[at] = await court.start({ set, env: { PORT: String(old.port) } });
      }
    }
    await stop();
    // What nginx says of a loss is the beginning of its explanation.
    tally.lost.push(...(tally.lost.length > 0 ? (await router.log()).map((line) => line.text) : []));
    return tally;
  } finally {
    await router.stop();
  }
}

suite("A5 and A8 with real clients", () => {
  test("A5 Node's agent loses no POST when new connections go elsewhere before the gate", (t) =>
    proves(
      (court) => restart(court, nodeClient),
      (line) => t.diagnostic(line),
    ));

  test("A5 undici's pool loses no POST when new connections go elsewhere before the gate", (t) =>
    proves(
      (court) => restart(court, undiciClient),
      (line) => t.diagnostic(line),
    ));

  test("A5 nginx with upstream keep-alive loses no POST when nobody tells it (listener first)", async (t) => {
    const found = await realNginx();
    if (found === null) {
      t.skip("no nginx here");
      return;
    }
    const folder = await mkdtemp(path.join(tmpdir(), "lastcall-a5-"));
    try {
      await proves(
        (court) => restartBehindNginx(court, found, folder),
        (line) => t.diagnostic(line),
      );
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });
});
