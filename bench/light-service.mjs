// The lightest service that a rollout can restart: lastcall's lifecycle around one answer. It is ready when its code is warm: a cold
// copy that is given 2,500 requests/s at once would be measured instead of the lab. The port is the first argument.
import http from "node:http";
import { createLifecycle } from "lastcall";

const WARM_UP = 2000;
const AT_ONCE = 8;
const port = Number(process.argv[2]);
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

function ask(agent) {
  return new Promise((resolve, reject) => {
    const request = http.get({ host: "127.0.0.1", port, agent, path: "/work" }, (response) =>
      response.resume().once("end", resolve),
    );
    request.once("error", reject);
  });
}

async function warmUp() {
  const agent = new http.Agent({ keepAlive: true });
  for (let sent = 0; sent < WARM_UP; sent += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, () => ask(agent)));
  }
  agent.destroy();
}

server.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => void warmUp().then(() => life.ready()));
