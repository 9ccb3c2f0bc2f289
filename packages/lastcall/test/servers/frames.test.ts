import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { closeFrame, FrameBoundary } from "../../src/servers/frames.ts";

const ACCEPTED: Buffer = Buffer.from("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n");

function frame(opcode: number, final: boolean, size: number): Buffer {
  const head =
    size < 126
      ? Buffer.from([0, size])
      : size < 65_536
        ? Buffer.from([0, 126, size >> 8, size & 0xff])
        : Buffer.concat([
            Buffer.from([0, 127, 0, 0, 0, 0]),
            Buffer.from(new Uint32Array([size]).buffer).swap32(),
          ]);
  head[0] = opcode | (final ? 0x80 : 0);
  return Buffer.concat([head, Buffer.alloc(size, 0x88)]);
}

test("the ends of frames are found however their bytes are cut into writes", () => {
  const frames = fc.array(
    fc.record({ size: fc.constantFrom(0, 1, 125, 126, 300, 65_535, 65_536, 70_000), final: fc.boolean() }),
    { minLength: 1, maxLength: 5 },
  );
  fc.assert(
    fc.property(frames, fc.array(fc.integer({ min: 1, max: 5000 }), { minLength: 1 }), (list, steps) => {
      const whole = list.map(({ size, final }) => frame(2, final, size));
      const bytes = Buffer.concat([ACCEPTED, ...whole]);
      const ends = new Map<number, boolean>([[ACCEPTED.length, true]]);
      let end = ACCEPTED.length;
      whole.forEach((one, at) => {
        end += one.length;
        ends.set(end, list[at]?.final === true);
      });
      const boundary = new FrameBoundary();
      for (let at = 0, turn = 0; at < bytes.length; turn += 1) {
        const next = Math.min(bytes.length, at + (steps[turn % steps.length] ?? 1));
        boundary.wrote(bytes.subarray(at, next));
        at = next;
        assert.equal(boundary.betweenFrames, ends.has(at), `between frames at ${at}`);
        assert.equal(boundary.betweenMessages, ends.get(at) === true, `between messages at ${at}`);
      }
    }),
    { numRuns: 60 },
  );
});

test("a handshake that is refused never becomes a WebSocket; a close frame of the app is seen", () => {
  const refused = new FrameBoundary();
  refused.wrote(Buffer.from("HTTP/1.1 401 Unauthorized\r\n\r\n"));
  assert.equal(refused.betweenFrames, false);
  const closing = new FrameBoundary();
  closing.wrote(ACCEPTED);
  closing.wrote(frame(1, false, 10));
  closing.wrote(frame(9, true, 0));
  assert.equal(closing.betweenMessages, false, "a ping does not end a message");
  closing.wrote(frame(0, true, 10));
  assert.equal(closing.betweenMessages, true);
  closing.wrote(closeFrame(1000, "bye"));
  assert.equal(closing.closed, true);
});
