import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { test } from "node:test";
import { announceOn, LastRequests } from "../../src/servers/announce.ts";

/** Sends raw bytes to a server that announces on every response, and gives back all that it answered. */
async function exchange(app: RequestListener, bytes: string): Promise<string> {
  const last = new LastRequests();
  const server = createServer((request, response) => {
    last.received(request, true);
    announceOn(response, () => last.isLast(request));
    app(request, response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(bytes);
  let answered = "";
  for await (const chunk of socket) {
    answered += String(chunk);
  }
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return answered;
}

const GET = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";

type Answer = (response: ServerResponse) => void;

const SHAPES: Readonly<Record<string, Answer>> = {
  "end alone": (response) => response.end("ok"),
  "setHeader keep-alive": (response) => {
    response.setHeader("Connection", "keep-alive");
    response.end("ok");
  },
  "writeHead with a status": (response) => response.writeHead(200).end("ok"),
  "writeHead with a reason": (response) => response.writeHead(200, "Fine").end("ok"),
  "writeHead with headers": (response) =>
    response.writeHead(200, { connection: "keep-alive", "Keep-Alive": "timeout=5", "X-App": "1" }).end("ok"),
  "writeHead with a reason and headers": (response) =>
    response.writeHead(200, "Fine", { Connection: "keep-alive", "X-App": "1" }).end("ok"),
  "writeHead with a flat array": (response) =>
    response.writeHead(200, ["Connection", "keep-alive", "X-App", "1"]).end("ok"),
  "writeHead with pairs": (response) =>
    response
      .writeHead(200, [
        ["Connection", "keep-alive"],
        ["X-App", "1"],
      ] as unknown as string[])
      .end("ok"),
  "setHeader and writeHead with an array": (response) => {
    response.setHeader("Connection", "keep-alive");
    response.setHeader("Keep-Alive", "timeout=5");
    response.writeHead(200, ["X-App", "1"]).end("ok");
  },
  flushHeaders: (response) => {
    response.flushHeaders();
    response.end("ok");
  },
};

for (const [shape, answer] of Object.entries(SHAPES)) {
  test(`A4 Connection: close wins over the app: ${shape}`, async () => {
    const answered = await exchange((_, response) => answer(response), GET);
    const head = answered.slice(0, answered.indexOf("\r\n\r\n")).toLowerCase();
    assert.equal(head.match(/^connection: close$/gm)?.length, 1, answered);
    assert.doesNotMatch(head, /keep-alive/);
    assert.match(answered, /ok/);
    if (shape.includes("headers") && shape !== "flushHeaders") {
      assert.match(head, /x-app: 1/);
    }
  });
}

const counted: RequestListener = (request: IncomingMessage, response) => {
  request.resume();
  request.on("end", () => response.end(`<${request.url}>`));
};
const atOnce: RequestListener = (request, response) => {
  response.end(`<${request.url}>`);
};

function get(path: string): string {
  return `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
}
function post(path: string, body: string): string {
  return `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

for (const [when, app] of [
  ["at once", atOnce],
  ["after their bodies", counted],
] as const) {
  test(`B6 pipelined requests are all answered in order, and only the last answer announces (answered ${when})`, async () => {
    const answered = await exchange(app, get("/1") + post("/2", "a\r\n\r\nb") + get("/3"));
    assert.deepEqual(answered.match(/<\/\d>/g), ["</1>", "</2>", "</3>"]);
    assert.equal(answered.match(/connection: close/gi)?.length, 1);
    assert.ok(answered.toLowerCase().lastIndexOf("connection: close") > answered.indexOf("</2>"));
  });
}

test("a switch of protocols is left alone", async () => {
  const answered = await exchange((_, response) => {
    response.writeHead(101, { Connection: "Upgrade", Upgrade: "x" });
    response.end();
  }, GET);
  assert.match(answered, /connection: upgrade/i);
});
