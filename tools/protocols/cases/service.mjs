// What each case's service shares: a lifecycle with times from the environment, and the port on standard output. PARTY
// chooses who stops it: the library; `plain`, what most services do by themselves (close the server at SIGTERM, leave after
// three seconds); `peer`, close-with-grace with what the protocol's own library offers for a stop.
import { createLifecycle } from "../../../packages/lastcall/dist/src/index.js";
import { peer } from "../peers.mjs";

const servers = new Set();
const party = process.env.PARTY;
const seconds = (name) => Number(process.env[name].replace("s", ""));

function plain() {
  process.on("SIGTERM", () => {
    let open = servers.size;
    servers.forEach((server) => server.close(() => --open === 0 && process.exit(0)));
    setTimeout(() => process.exit(0), 3000);
  });
  return { http: (server) => servers.add(server), ready() {} };
}

const LIVES = {
  lastcall: () => createLifecycle({ log: "none", leaveOrder: "announce-first" }),
  plain,
  peer: () => ({ http() {}, ready() {} }),
};

export const life = LIVES[party]();

/** The stop as the protocol's own library does it; only the peer's party uses it. */
export function ownStop(stop) {
  if (party === "peer")
    peer("close-with-grace")({ delay: seconds("LASTCALL_GRACEFUL_TIMEOUT") * 1000 }, stop);
}

export const closed = (server) => new Promise((resolve) => server.close(() => resolve()));

export function listen(server) {
  server.listen(0, "127.0.0.1", () => {
    life.ready();
    console.log(JSON.stringify({ port: server.address().port }));
  });
}
