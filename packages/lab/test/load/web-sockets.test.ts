// What the lab's clients make of WebSockets: those that are answered, told to go, cut, and left without an answer.
import assert from "node:assert/strict";
import type { Socket } from "node:net";
import { test } from "node:test";
import type { RequestRecord } from "../../src/ledger/records.ts";
import type { WebSocketTalk } from "../../src/load/load.ts";
import { clientFrame, FrameReader } from "../../src/load/web-socket-frames.ts";
import { closedPort } from "./raw-server.ts";
import {
  clientFrameIn,
  serverFrame,
  webSocketServer,
  type Guest,
  type WebSocketServer,
} from "./web-socket-server.ts";
import { runLoad } from "./run-load.ts";

const TALK: WebSocketTalk = { forMs: 600, everyMs: 50, message: "{id}:{n};", answer: "echo" };

/** Sends a WebSocket each 100 ms until so many records have come; all records. */
async function talk(
  port: number,
  enough: number,
  change: Partial<WebSocketTalk> = {},
  timeoutMs = 10_000,
): Promise<RequestRecord[]> {
  return runLoad(
    {
      port,
      mix: [
        {
          method: "GET",
          path: "/ws",
          body: null,
          weight: 1,
          name: "chat",
          webSocket: { ...TALK, ...change },
        },
      ],
      timeoutMs,
    },
    enough,
  );
}

async function against(
  server: WebSocketServer,
  enough: number,
  change?: Partial<WebSocketTalk>,
  timeoutMs?: number,
): Promise<RequestRecord[]> {
  try {
    return await talk(server.port, enough, change, timeoutMs);
  } finally {
    await server.close();
  }
}

test("every message is answered by its echo, and the client leaves with a close frame after its time", async () => {
  const server = await webSocketServer((guest, text) => guest.say(`you said ${text}`));
  const records = await against(server, 3);
  for (const record of records) {
    assert.deepEqual(
      [record.fate, record.status, record.error, record.copy, record.template, record.connection.closedFirst],
      ["answered", 101, null, "A", "chat", "client"],
    );
    const { sent, answered, crossed, closeCode } = record.webSocket ?? assert.fail("no word of it");
    assert.ok(sent > 0);
    assert.deepEqual([answered, crossed, closeCode], [sent, 0, null]);
    const times = [record.dispatchedMs, record.connectedMs ?? 0, record.firstByteMs ?? 0, record.endedMs];
    assert.deepEqual(
      times,
      times.toSorted((a, b) => a - b),
    );
  }
  const [first] = records;
  assert.ok((first?.endedMs ?? 0) - (first?.dispatchedMs ?? 0) >= 590);
  assert.equal(new Set(records.map(({ connection }) => connection.id)).size, records.length);
});

test("a client that is told to go comes back under an id of its own, for the time that is left", async () => {
  const ids: string[] = [];
  const server = await webSocketServer(undefined, (guest) => {
    const id = String(guest.request.headers["x-request-id"]);
    ids.push(id);
    if (!id.includes("again")) {
      setTimeout(() => guest.dismiss(1012), 150);
    }
  });
  const records = await against(server, 4, { forMs: 1500 });
  const dismissed = records.filter(({ id }) => !id.includes("again"));
  const back = records.filter(({ id }) => id.endsWith("-again1"));
  assert.ok(dismissed.length > 0 && back.length > 0);
  assert.ok(dismissed.some(({ webSocket }) => webSocket?.closeCode === 1012));
  for (const { fate, error, id } of records) {
    assert.deepEqual([fate, error], ["answered", null], id);
    assert.ok(ids.includes(id));
  }
  for (const { id, dispatchedMs } of back) {
    const before = dismissed.find((one) => id === `${one.id}-again1`);
    assert.ok(dispatchedMs - (before?.endedMs ?? 0) >= 240);
  }
});

test("an end without a close frame is a cut, by an end and by a reset", async () => {
  for (const cut of [
    ({ socket }: Guest): void => void socket.end(),
    ({ socket }: Guest): void => void (socket as Socket).resetAndDestroy(),
  ]) {
    const server = await webSocketServer(undefined, (guest) => void setTimeout(() => cut(guest), 200));
    // Those that are still there at the end of the load leave by themselves.
    for (const record of (await against(server, 2, { forMs: 20_000 })).slice(0, 2)) {
      assert.deepEqual([record.fate, record.stage, record.status], ["failed", "body", 101]);
      // Node ends a socket before it resets it: what is seen of a reset is the one or the other.
      assert.match(record.error ?? "", /^(?:EOF|ECONNRESET)$/);
      assert.equal(record.connection.closedFirst, "server");
      assert.equal(record.webSocket?.closeCode, null);
    }
  }
});

test("a message that was read before the close frame and not answered is lost; one that crossed it is not", async () => {
  // One message each: its ping comes right behind it.
  const once = { everyMs: 20_000, forMs: 30_000 };
  const late = await webSocketServer((guest) => void setTimeout(() => guest.dismiss(1001), 100));
  for (const { error, stage, webSocket } of (await against(late, 2, once)).slice(0, 2)) {
    assert.deepEqual([error, stage], ["UNANSWERED", "body"]);
    assert.deepEqual(webSocket, { sent: 1, answered: 0, crossed: 0, closeCode: 1001 });
  }
  const atOnce = await webSocketServer((guest) => guest.dismiss(1001));
  for (const { error, webSocket } of (await against(atOnce, 2, once)).slice(0, 2)) {
    assert.deepEqual([error, webSocket], [null, { sent: 1, answered: 0, crossed: 1, closeCode: 1001 }]);
  }
});

test("a service that never answers has lost the messages when the client wants to leave", async () => {
  const server = await webSocketServer(() => undefined);
  for (const { error, stage, webSocket } of await against(server, 2, { forMs: 300 }, 700)) {
    assert.deepEqual([error, stage, webSocket?.answered], ["UNANSWERED", "body", 0]);
  }
});

test("a close for an error's sake is none in good order", async () => {
  const server = await webSocketServer((guest) => guest.dismiss(1011));
  for (const { error, stage, id } of await against(server, 2)) {
    assert.deepEqual([error, stage], ["CLOSE_1011", "body"]);
    assert.doesNotMatch(id, /again/);
  }
});

test("any message answers where the service does not repeat what was said", async () => {
  const server = await webSocketServer((guest) => guest.say("noted"));
  for (const { error, webSocket } of await against(server, 2, { answer: "any", forMs: 300 })) {
    assert.deepEqual([error, webSocket?.answered], [null, webSocket?.sent]);
  }
});

test("a closed door, a refusal and an answer that opens nothing are told as such", async () => {
  for (const record of await talk(await closedPort(), 2)) {
    assert.deepEqual([record.stage, record.error], ["connect", "ECONNREFUSED"]);
    assert.deepEqual(record.webSocket, { sent: 0, answered: 0, crossed: 0, closeCode: null });
  }
  const { createServer } = await import("node:http");
  for (const [status, fate, error, stage] of [
    [503, "answered", null, null],
    [200, "failed", "NO_UPGRADE", "wait"],
  ] as const) {
    const server = createServer((_req, res) => void res.writeHead(status).end("no")).listen(0, "127.0.0.1");
    await new Promise((resolve) => server.once("listening", resolve));
    const { port } = server.address() as { port: number };
    for (const record of await talk(port, 2)) {
      assert.deepEqual(
        [record.status, record.fate, record.error, record.stage],
        [status, fate, error, stage],
      );
    }
    server.close();
    server.closeAllConnections();
  }
});

test("frames are read however their bytes come: fragments put together, control frames between them", () => {
  const bytes = Buffer.concat([
    serverFrame(1, Buffer.from("whole")),
    serverFrame(1, Buffer.from("first "), false),
    serverFrame(9, Buffer.from("ping")),
    serverFrame(0, Buffer.from("second")),
    Buffer.concat([Buffer.from([0x82, 126, 1, 0]), Buffer.alloc(256, 7)]),
    serverFrame(8, Buffer.from([0x03, 0xe9])),
  ]);
  for (const step of [1, 2, 3, 50, 1000]) {
    const reader = new FrameReader();
    const seen: string[] = [];
    for (let at = 0; at < bytes.length; at += step) {
      for (const { opcode, payload } of reader.push(bytes.subarray(at, at + step))) {
        seen.push(`${opcode} ${payload.length > 20 ? payload.length : payload.toString("latin1")}`);
      }
    }
    assert.deepEqual(
      seen,
      ["1 whole", "9 ping", "1 first second", "2 256", "8 \u0003\u00e9"],
      `${step} at a time`,
    );
    assert.equal(reader.broken, false);
  }
  for (const wrong of [Buffer.from([0x81, 0x80]), Buffer.from([0xc1, 0]), Buffer.from([0x80, 0])]) {
    const reader = new FrameReader();
    reader.push(wrong);
    assert.ok(reader.broken, wrong.toString("hex"));
  }
});

test("a frame of the client is masked and says what it was given, long ones too", () => {
  const frame = clientFrameIn(clientFrame(1, Buffer.from("hello")));
  assert.deepEqual([frame?.opcode, frame?.payload.toString()], [1, "hello"]);
  const long = clientFrame(1, Buffer.alloc(70_000, 1));
  assert.deepEqual([long[1], long.readBigUInt64BE(2), long.length], [0x80 | 127, 70_000n, 70_014]);
  assert.equal(clientFrame(1, Buffer.alloc(300))[1], 0x80 | 126);
});
