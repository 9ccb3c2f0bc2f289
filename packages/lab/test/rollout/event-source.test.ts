// The orders service behind a real nginx: an event source whose copy leaves goes on at the other one.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import path from "node:path";
import { createInterface } from "node:readline";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { startRunClock } from "../../src/ledger/clock.ts";
import { startNginx } from "../../src/router/nginx.ts";
import type { Upstream } from "../../src/router/router.ts";
import { portFinder } from "../../src/target/free-port.ts";
import { startGuardian } from "../../src/target/guardian.ts";
import { realNginx } from "../real-parts.ts";
import { PLAIN } from "../router/behaviour.ts";

const ORDERS: string = fileURLToPath(
  new URL("../../../../../examples/orders/dist/src/server.js", import.meta.url),
);
const nginx = await realNginx();
const guardian = startGuardian();
const folder = mkdtempSync(path.join(tmpdir(), "lastcall-events-"));
after(() => {
  guardian.close();
  rmSync(folder, { recursive: true, force: true });
});

async function startOrders(copy: string): Promise<{
  readonly upstream: Upstream;
  stop(): Promise<number | null>;
}> {
  const args = [
    ORDERS,
    "--build=lastcall",
    "--port=0",
    "--drain-delay=1500ms",
    `--db=${path.join(folder, copy)}`,
  ];
  const child = spawn(process.execPath, args, {
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: process.env["PATH"], COPY: copy },
  });
  guardian.watch(child.pid ?? 0);
  const exited = once(child, "exit") as Promise<[number | null]>;
  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  return {
    upstream: { copy, host: "127.0.0.1", port: Number(/:(\d+),/.exec(line)?.[1]) },
    async stop() {
      child.kill("SIGTERM");
      const [code] = await exited;
      guardian.release(child.pid ?? 0);
      return code;
    },
  };
}

/** What a browser's EventSource does: it asks for what follows the last event, again and again. */
class EventSource {
  readonly ids: number[] = [];
  /** Which copy answered each of its connections. */
  readonly copies: string[] = [];
  /** Streams that ended other than with their last chunk. */
  cut = 0;
  closed = false;
  #changed: () => void = () => {};

  async listen(port: number): Promise<void> {
    while (!this.closed) {
      await this.#connect(port);
      // `retry`, as short as a test wants it.
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
  }

  async #connect(port: number): Promise<void> {
    const request = get({
      host: "127.0.0.1",
      port,
      path: "/events?interval=0.02",
      headers: { "last-event-id": String(this.ids.at(-1) ?? 0) },
      agent: false,
    });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    this.copies.push(String(response.headers["x-lastcall-copy"]));
    let text = "";
    try {
      for await (const chunk of response) {
        text += String(chunk);
        const events = text.split("\n\n");
        text = events.pop() ?? "";
        this.ids.push(...events.flatMap((event) => /^id: (\d+)$/m.exec(event)?.slice(1) ?? []).map(Number));
        this.#changed();
        if (this.closed) {
          break;
        }
      }
    } catch {
      this.cut += 1;
    }
    request.destroy();
  }
}

test(
  "F3 behind nginx an event source is ended in order, lands on the other copy with Last-Event-ID and misses no event",
  { skip: nginx === null && "nginx is not installed" },
  async () => {
    if (nginx === null) {
      return;
    }
    const [a, b] = await Promise.all([startOrders("A"), startOrders("B")]);
    const options = { ...PLAIN, port: 0, clientKeepAlive: true, folder };
    const router = await startNginx(nginx, options, [a.upstream], {
      clock: startRunClock(),
      guardian,
      findPort: portFinder(),
      emit: () => {},
    });
    const source = new EventSource();
    const listening = source.listen(router.port);
    await source.until(() => source.ids.length >= 10);
    // The rollout: the new copy is in, the old one is told, and the router forgets it a little later.
    await router.set([a.upstream, b.upstream]);
    const stopped = a.stop();
    await new Promise((resolve) => setTimeout(resolve, 200));
    await router.set([b.upstream]);
    assert.equal(await stopped, 0);
    const before = source.ids.length;
    await source.until(() => source.ids.length >= before + 10);
    source.closed = true;
    await listening;
    await router.stop();
    assert.equal(await b.stop(), 0);
    assert.equal(source.cut, 0, "no stream was cut");
    assert.deepEqual([source.copies.at(0), source.copies.at(-1)], ["A", "B"]);
    assert.deepEqual(
      source.ids,
      source.ids.map((_, at) => at + 1),
      "every event once, in order",
    );
  },
);
