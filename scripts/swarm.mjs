// `npm run swarm`: a real Docker Swarm updates a real service under load, with lastcall and without, on one node and with
// one of two nodes drained, behind a HAProxy that finds the tasks by Docker's DNS. Everything runs in network and mount
// namespaces of its own (the machine's iptables and its own engine stay as they are) and is removed at the end, also after
// Ctrl-C. Needs Linux, root, docker.io, haproxy and iproute2. Words choose rows by their names. `LASTCALL_SWARM_KEEP=FOLDER`
// keeps the ledgers and reports. Exit 1 when a row does not show what it must.
import { execFileSync } from "node:child_process";
import { cpSync, existsSync } from "node:fs";
import path from "node:path";
import { ADDRESSES, createEngines } from "./swarm/engines.mjs";
import { importImages, makeImages } from "./swarm/images.mjs";
import { enterNamespaces, home } from "./swarm/namespaces.mjs";
import { playRow } from "./swarm/row.mjs";
import { printTable } from "./swarm/table.mjs";

const UPDATE = { nodes: 1, replicas: 3 };
const DRAIN = { nodes: 2, replicas: 4 };
const USUAL = { build: "naive", loses: true };
const LASTCALL = { build: "lastcall", loses: false };
const only = process.argv.slice(2);
const ROWS = [
  { name: "usual-update", title: "usual stop, update", ...USUAL, ...UPDATE },
  { name: "lastcall-update", title: "lastcall, update", ...LASTCALL, ...UPDATE },
  { name: "usual-drain", title: "usual stop, node drained", ...USUAL, ...DRAIN },
  { name: "lastcall-drain", title: "lastcall, node drained", ...LASTCALL, ...DRAIN },
].filter(({ name }) => only.length === 0 || only.includes(name));

if (home === undefined) {
  enterNamespaces();
} else {
  process.exit(await playAll());
}

/** The exit code. */
async function playAll() {
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => interrupted.abort());
  const checkpoint = () => {
    if (interrupted.signal.aborted) throw new Error("interrupted");
  };
  const engines = createEngines(home, checkpoint);
  const { docker, socketOf } = engines;
  const results = [];
  try {
    execFileSync("ip", ["link", "set", "lo", "up"]);
    makeImages(home);
    await engines.start("n1", false);
    importImages(home, socketOf("n1"));
    const two = ROWS.some(({ nodes }) => nodes === 2);
    if (two) {
      await engines.start("n2", true);
      importImages(home, socketOf("n2"));
    }
    const address = two ? ADDRESSES.n1 : "127.0.0.1";
    docker("n1", "swarm", "init", "--advertise-addr", address, "--listen-addr", `${address}:2377`);
    docker("n1", "network", "create", "--driver", "overlay", "--attachable", "tasks");
    for (const row of ROWS.filter(({ nodes }) => nodes === 1)) {
      results.push(await playRow(row, home, engines, checkpoint));
    }
    if (two) {
      const token = docker("n1", "swarm", "join-token", "--quiet", "worker");
      const join = ["swarm", "join", "--token", token, "--advertise-addr", ADDRESSES.n2];
      docker("n2", ...join, `${ADDRESSES.n1}:2377`);
      for (const row of ROWS.filter(({ nodes }) => nodes === 2)) {
        results.push(await playRow(row, home, engines, checkpoint));
      }
    }
    printTable(results);
    if (results.every(({ shows }) => shows === true)) return 0;
    return results.some(({ shows }) => shows === false) ? 1 : 4;
  } catch (error) {
    console.error(error instanceof Error ? `${error.message}\n${error.stderr ?? ""}` : error);
    if (results.length > 0) printTable(results);
    return interrupted.signal.aborted ? 130 : 3;
  } finally {
    const keep = process.env.LASTCALL_SWARM_KEEP;
    const runs = path.join(home, "runs");
    if (keep !== undefined && existsSync(runs)) cpSync(runs, keep, { recursive: true });
    await engines.stop();
  }
}
