// What each case's service shares: a lifecycle with times from the environment, and the port on standard output. With
// PLAIN it is what most services do by themselves: close the server at SIGTERM, leave after three seconds.
import { createLifecycle } from "../../../packages/lastcall/dist/src/index.js";

const servers = new Set();

function plain() {
  process.on("SIGTERM", () => {
    let open = servers.size;
    servers.forEach((server) => server.close(() => --open === 0 && process.exit(0)));
    setTimeout(() => process.exit(0), 3000);
  });
  return { http: (server) => servers.add(server), ready() {} };
}

export const life =
  process.env.PLAIN === "1" ? plain() : createLifecycle({ log: "none", leaveOrder: "announce-first" });

export function listen(server) {
  server.listen(0, "127.0.0.1", () => {
    life.ready();
    console.log(JSON.stringify({ port: server.address().port }));
  });
}
