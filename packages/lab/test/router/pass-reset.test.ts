// A reset that is passed on: the socket's handle is closed whatever was going on.
import assert from "node:assert/strict";
import { once } from "node:events";
import net, { type AddressInfo } from "node:net";
import { test } from "node:test";
import { destroyUnlessReset, passReset } from "../../src/router/pass-reset.ts";

/** Both ends of a connection. */
async function pair(): Promise<readonly [net.Socket, net.Socket]> {
  const server = net.createServer({ allowHalfOpen: true });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const near = net.connect((server.address() as AddressInfo).port, "127.0.0.1");
  const [far] = (await once(server, "connection")) as [net.Socket];
  server.close();
  return [near, far];
}

/** How it ends: the error's code, or `end`. */
function endOf(socket: net.Socket): Promise<string> {
  return new Promise((resolve) => {
    socket.once("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? ""));
    socket.resume().once("end", () => resolve("end"));
  });
}

test("the other side of an open connection sees its end, and the socket is closed once", async () => {
  const [near, far] = await pair();
  const seen = endOf(near);
  const closed = once(far, "close");
  passReset(far);
  passReset(far);
  destroyUnlessReset(far);
  await closed;
  // Node ends a socket before it resets it: on a busy machine the end is seen alone.
  assert.match(await seen, /^(?:ECONNRESET|end)$/);
});

test("a socket that is in the middle of its end, or has something to say, is closed all the same", async () => {
  for (const begin of [
    (socket: net.Socket): unknown => socket.end("the last word"),
    (socket: net.Socket): unknown => socket.write(Buffer.alloc(8_000_000)),
  ]) {
    const [near, far] = await pair();
    near.on("error", () => undefined);
    begin(far);
    const closed = once(far, "close");
    passReset(far);
    destroyUnlessReset(far);
    await closed;
    near.destroy();
  }
});
