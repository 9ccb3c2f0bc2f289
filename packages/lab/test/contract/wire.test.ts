import assert from "node:assert/strict";
import { createServer, type Socket } from "node:net";
import { test } from "node:test";
import { openWire } from "../../src/contract/open-wire.ts";
import { Refused, type Wire } from "../../src/contract/wire.ts";

/** A server that does one thing to the connection it accepts, and a wire to it. */
async function wireTo(
  serve: (socket: Socket) => void,
): Promise<{ wire: Wire; port: number; close: () => Promise<void> }> {
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    sockets.push(socket.on("error", () => {}));
    serve(socket);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const wire = await openWire({ kind: "tcp", port, tls: false });
  return {
    wire,
    port,
    close: () =>
      new Promise((resolve) => {
        wire.close();
        sockets.forEach((socket) => socket.destroy());
        server.close(() => resolve());
      }),
  };
}

const HEAD = "HTTP/1.1 200 OK\r\n";
const LONGER = `${HEAD}Content-Length: 10\r\n\r\nhalf`;

test("a FIN, a reset and a whole answer are told apart", async () => {
  const cases: readonly [(socket: Socket) => void, string][] = [
    [(socket) => socket.end(LONGER), "fin"],
    [(socket) => socket.write(LONGER, () => socket.resetAndDestroy()), "reset"],
    [(socket) => socket.end(`${HEAD}\r\nuntil the end`), "whole"],
    [(socket) => socket.write(`${HEAD}\r\nuntil`, () => socket.resetAndDestroy()), "reset"],
    [(socket) => socket.write(`${HEAD}Content-Length: 2\r\n\r\nok`), "whole"],
  ];
  for (const [serve, ended] of cases) {
    // Served only when asked, so that the reset does not overtake the answer's reader.
    const { wire, close } = await wireTo((socket) => {
      socket.once("data", () => serve(socket));
    });
    wire.request({ method: "GET", path: "/" });
    const answer = await wire.answer();
    assert.equal(answer.ended, ended);
    await close();
  }
});

test("answers to pipelined requests are read one after the other, each with its own time", async () => {
  const { wire, close } = await wireTo((socket) => {
    socket.write(`${HEAD}Content-Length: 1\r\n\r\n1${HEAD}Content-Length: 1\r\n\r\n`);
    socket.once("data", () => socket.write("2"));
  });
  const first = await wire.answer();
  wire.send("go on");
  const second = await wire.answer();
  assert.deepEqual([first.body, second.body], ["1", "2"]);
  assert.ok(first.endAtMs < second.endAtMs);
  assert.deepEqual(
    wire.trace.map((entry) => entry.what),
    ["connected", "received", "sent", "received"],
  );
  await close();
});

test("an answer that does not come in time says so", async () => {
  const { wire, close } = await wireTo((socket) => socket.write(LONGER));
  const answer = await wire.answer({ timeoutMs: 50 });
  assert.equal(answer.ended, "timeout");
  await close();
});

test("a refused connection is refused with the system's code", async () => {
  const { port, close } = await wireTo(() => {});
  await close();
  await assert.rejects(
    openWire({ kind: "tcp", port, tls: false }),
    (error) => error instanceof Refused && error.code === "ECONNREFUSED",
  );
});
