// The lightest service that a rollout can restart: lastcall's lifecycle around one answer. The port is the first argument.
import http from "node:http";
import { createLifecycle } from "lastcall";

const life = createLifecycle();
const answer = `{"pid":${process.pid}}`;
const server = http.createServer((req, res) => {
  if (life.probes(req, res)) return;
  req.resume();
  res.setHeader("content-type", "application/json");
  res.end(answer);
});
// Longer than the router keeps an idle connection (60 s): Node's own 5 s would lose a race now and then.
server.keepAliveTimeout = 90_000;
life.http(server);
server.listen({ port: Number(process.argv[2]), host: "127.0.0.1", backlog: 4096 }, () => life.ready());
