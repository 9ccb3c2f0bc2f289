import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, request as ask, type IncomingMessage, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { BOTH, dial, httpServer, rig } from "./rig.ts";

const HEAD = "Host: x\r\n";

function count(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

for (const over of BOTH) {
  test(`A4 a proxying app that copies its upstream's Connection: keep-alive announces all the same (${over})`, async () => {
    // Chunked and with a length, as upstreams answer; both say keep-alive by themselves.
    const upstream = createServer((request, response) => {
      if (request.url === "/length") {
        response.setHeader("content-length", 5);
      }
      response.write("whole");
      response.end();
    });
    upstream.listen(0, "127.0.0.1");
    await once(upstream, "listening");
    const { port: to } = upstream.address() as AddressInfo;
    const copied: unknown[] = [];
    const proxy: RequestListener = (request, response) => {
      const forwarded = ask({ host: "127.0.0.1", port: to, path: request.url, method: request.method });
      forwarded.setHeader("connection", "keep-alive");
      forwarded.on("response", (answer: IncomingMessage) => {
        copied.push(answer.headers.connection);
        response.writeHead(answer.statusCode ?? 502, answer.statusMessage, answer.headers);
        answer.pipe(response);
      });
      request.pipe(forwarded);
    };
    const { port, stop, record } = await rig(httpServer(over, proxy), { drainDelayMs: 500 });
    const clients = await Promise.all([dial(port, over), dial(port, over)]);
    stop();
    for (const [at, path] of ["/length", "/chunked"].entries()) {
      clients[at]?.send(`POST ${path} HTTP/1.1\r\n${HEAD}Content-Length: 4\r\n\r\nbody`);
    }
    for (const client of clients) {
      await client.until(/whole/);
      assert.equal(await client.ended, "fin");
      assert.equal(count(client.text(), /^connection: close\r$/gim), 1, client.text());
      assert.equal(count(client.text(), /^(?:connection|keep-alive): (?!close)/gim), 0, client.text());
    }
    assert.deepEqual(copied, ["keep-alive", "keep-alive"]);
    assert.equal((await record).requests.completed, 2);
    upstream.closeAllConnections();
    upstream.close();
  });

  test(`B6 a client's own Connection: close behind pipelined requests: all are answered, once announced (${over})`, async () => {
    const waiting: (() => void)[] = [];
    const server = httpServer(over, (request, response) => {
      waiting.push(() => response.end(`<${request.url}>`));
    });
    const { port, stop, reaches, record } = await rig(server);
    const client = await dial(port, over);
    client.send(
      `GET /1 HTTP/1.1\r\n${HEAD}\r\nGET /2 HTTP/1.1\r\n${HEAD}\r\nGET /3 HTTP/1.1\r\n${HEAD}Connection: close\r\n\r\n`,
    );
    while (waiting.length < 3) {
      await once(server, "request");
    }
    stop();
    await reaches("draining");
    // The last one is ready first.
    waiting.toReversed().forEach((answer) => answer());
    assert.equal(await client.ended, "fin");
    assert.deepEqual(client.text().match(/<\/\d>/g), ["</1>", "</2>", "</3>"]);
    assert.equal(count(client.text(), /connection: close/gi), 1);
    assert.equal((await record).requests.completed, 3);
  });
}
