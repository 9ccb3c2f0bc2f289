import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { ResponseParser } from "../../src/load/response-parser.ts";

/** Feeds a response in pieces that end at the given places; the buffer is reused, as the client's is. */
function parse(text: string, cuts: readonly number[] = []): ResponseParser {
  const bytes = Buffer.from(text, "latin1");
  const shared = Buffer.alloc(bytes.length + 1, "!");
  const parser = new ResponseParser();
  parser.reset();
  let from = 0;
  const inside = [...new Set(cuts)].filter((cut) => cut < bytes.length);
  for (const to of [...inside, bytes.length].toSorted((a, b) => a - b)) {
    const length = bytes.copy(shared, 0, from, to);
    if (length > 0) {
      parser.push(shared, length);
    }
    shared.fill("!");
    from = to;
  }
  return parser;
}

function seen(parser: ResponseParser): unknown {
  const { state, status, promised, got, keepAlive, surplus, copy, upstream } = parser;
  return { state, status, promised, got, keepAlive, surplus, copy, upstream };
}

const WHOLE: Readonly<Record<string, { text: string; status: number; got: number }>> = {
  fixed: { text: "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", status: 200, got: 5 },
  chunked: {
    text: "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\n\r\n5;ext=1\r\nhello\r\nA\r\n0123456789\r\n0\r\ntrailer: x\r\n\r\n",
    status: 201,
    got: 15,
  },
  "no content": { text: "HTTP/1.1 204 No Content\r\n\r\n", status: 204, got: 0 },
  "not modified with a length": {
    text: "HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n",
    status: 304,
    got: 0,
  },
  "empty body": { text: "HTTP/1.1 500 \r\ncontent-length: 0\r\n\r\n", status: 500, got: 0 },
  "no reason": { text: "HTTP/1.1 200\r\ncontent-length: 1\r\n\r\nx", status: 200, got: 1 },
  "bare line feeds": { text: "HTTP/1.1 200 OK\ncontent-length: 1\n\nx", status: 200, got: 1 },
  interim: {
    text: "HTTP/1.1 103 Early Hints\r\ncontent-length: 9\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 1\r\n\r\nx",
    status: 200,
    got: 1,
  },
  "twice the same length": {
    text: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 2\r\n\r\nok",
    status: 200,
    got: 2,
  },
  "chunked wins over a length": {
    text: "HTTP/1.1 200 OK\r\ncontent-length: 99\r\ntransfer-encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
    status: 200,
    got: 1,
  },
};

describe("whole answers", () => {
  for (const [name, { text, status, got }] of Object.entries(WHOLE)) {
    test(`${name}, in one piece and in any pieces`, () => {
      const once = parse(text);
      assert.deepEqual([once.state, once.status, once.got, once.surplus], ["done", status, got, false]);
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 0, max: text.length })), (cuts) => {
          assert.deepEqual(seen(parse(text, cuts)), seen(once));
        }),
      );
    });

    test(`${name}, cut anywhere, is not done`, () => {
      for (let cut = 0; cut < text.length; cut += 1) {
        const { state } = parse(text.slice(0, cut));
        assert.ok(state !== "done" && state !== "broken", `cut at ${cut}: ${state}`);
      }
    });

    test(`${name}, followed by more, has surplus bytes`, () => {
      const expected = { ...(seen(parse(text)) as object), surplus: true };
      fc.assert(
        fc.property(fc.array(fc.integer({ min: 0, max: text.length + 3 })), (cuts) => {
          assert.deepEqual(seen(parse(`${text}HTTP`, cuts)), expected);
        }),
      );
    });
  }

  test("a body that nothing delimits is done at the end only", () => {
    const parser = parse("HTTP/1.1 200 OK\r\n\r\nhello");
    assert.deepEqual([parser.state, parser.got, parser.keepAlive], ["until-close", 5, false]);
    parser.end();
    assert.equal(parser.state, "done");
  });

  test("an end does not complete what is promised", () => {
    const parser = parse("HTTP/1.1 200 OK\r\ncontent-length: 6\r\n\r\nhello");
    parser.end();
    assert.equal(parser.state, "fixed");
  });
});

describe("connections", () => {
  const cases: readonly (readonly [string, boolean])[] = [
    ["HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n", true],
    ["HTTP/1.1 200 OK\r\nConnection: close\r\ncontent-length: 0\r\n\r\n", false],
    ["HTTP/1.1 200 OK\r\nconnection: upgrade, CLOSE\r\ncontent-length: 0\r\n\r\n", false],
    ["HTTP/1.0 200 OK\r\ncontent-length: 0\r\n\r\n", false],
    ["HTTP/1.0 200 OK\r\nconnection: Keep-Alive\r\ncontent-length: 0\r\n\r\n", true],
  ];
  for (const [text, keepAlive] of cases) {
    test(`${keepAlive ? "kept" : "closed"} after ${JSON.stringify(text)}`, () => {
      assert.equal(parse(text).keepAlive, keepAlive);
    });
  }

  test("a parser that is reset forgets the answer before", () => {
    const parser = parse("HTTP/1.0 500 No\r\nx-lastcall-copy: A\r\ncontent-length: 3\r\n\r\nabc");
    parser.reset();
    const next = Buffer.from("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
    parser.push(next, next.length);
    assert.deepEqual(seen(parser), {
      state: "done",
      status: 200,
      promised: 0,
      got: 0,
      keepAlive: true,
      surplus: false,
      copy: null,
      upstream: null,
    });
  });
});

describe("garbage", () => {
  const broken: readonly string[] = [
    "SSH-2.0-x\r\n",
    "HTTP/2.0 200 OK\r\n\r\n",
    "HTTP/1.1 20 OK\r\n\r\n",
    "HTTP/1.1 999 OK\r\n\r\n",
    "HTTP/1.1 2000 OK\r\n\r\n",
    "HTTP/1.1 abc OK\r\n\r\n",
    "HTTP/1.1 101 Switching Protocols\r\n\r\n",
    "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
    "HTTP/1.1 200 OK\r\n: no name\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1x\r\n\r\n",
    "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n1\r\nxx",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n\r\n",
    "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nfffffffffffffffff\r\n",
    `HTTP/1.1 200 OK\r\nx: ${"y".repeat(70_000)}`,
  ];
  for (const text of broken) {
    test(`${JSON.stringify(text.slice(0, 70))} is broken`, () => {
      assert.equal(parse(text).state, "broken");
    });
  }

  test("any bytes at all are taken without an exception", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.string({ unit: "binary" }).map((text) => `HTTP/1.1 200 OK\r\n${text}`),
          fc
            .string({ unit: fc.constantFrom("0", "1", "f", "\r", "\n", ";", "x") })
            .map((text) => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${text}`),
        ),
        (text) => {
          parse(text, [3, 17, 40]);
        },
      ),
    );
  });
});

describe("who answered", () => {
  const json = "content-type: application/json; charset=utf-8";
  const answer = (headers: string, body: string): string =>
    `HTTP/1.1 200 OK\r\n${headers}\r\ncontent-length: ${body.length}\r\n\r\n${body}`;

  test("the header wins over the body", () => {
    assert.equal(parse(answer(`${json}\r\nX-LastCall-Copy: B`, '{"pid":7}')).copy, "B");
  });

  test("the pid of a JSON body, wherever it is cut", () => {
    const text = answer(json, '{ "slept": 0.3, "pid" : 4711 }');
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: text.length })), (cuts) => {
        assert.equal(parse(text, cuts).copy, "4711");
      }),
    );
  });

  test("no pid in other bodies", () => {
    assert.equal(parse(answer("content-type: text/plain", '{"pid":7}')).copy, null);
    assert.equal(parse(answer(json, '{"id":7}')).copy, null);
  });
});
