// One service for Node, Deno and Bun. `explicit` has a lifecycle of its own, `plain` knows nothing of the library, and
// `bun-serve` has Bun's own server, a tracked task, and a hook that stops the server. GET / answers at once, /slow after a
// second and a half, /stuck never; /spin blocks the event loop.
import { createServer } from "node:http";
import { setTimeout as delay } from "node:timers/promises";

const style = process.argv[2];
const life = style === "plain" ? null : (await import(process.env.LIBRARY)).createLifecycle();
const say = (port) => console.log(`listening ${port}`);

function spinsForever() {
  for (;;) Math.sqrt(Math.random());
}

if (style === "bun-serve") {
  const server = globalThis.Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    async fetch(request) {
      const { pathname } = new URL(request.url);
      if (pathname === "/slow") await delay(1500);
      if (pathname === "/spin") spinsForever();
      return new Response("Hello World");
    },
  });
  life.onTeardown("server", () => server.stop());
  void life.task("mail", () => delay(500));
  life.ready();
  say(server.port);
} else {
  const server = createServer((req, res) => {
    if (life?.probes(req, res)) return;
    if (req.url === "/spin") spinsForever();
    if (req.url !== "/stuck") setTimeout(() => res.end("Hello World"), req.url === "/slow" ? 1500 : 0);
  });
  life?.http(server);
  life?.onTeardown("database", () => {});
  server.listen(0, "127.0.0.1", () => {
    life?.ready();
    say(server.address().port);
  });
}
