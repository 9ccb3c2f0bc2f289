// Starting and ending the processes of a benchmark.
import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { nowNs } from "./stats.mjs";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));

/** The next message that has this field. */
function message(child, field) {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error(`a process ended before it said '${field}'`));
    child.once("exit", gone);
    child.on("message", function listen(value) {
      if (!(field in value)) return;
      child.off("exit", gone);
      child.off("message", listen);
      resolve(value[field]);
    });
  });
}

export async function startServer(kind, options = {}, execArgv = [], program = "./server.mjs") {
  // Its talk is not measured and must not fill a pipe: stderr goes nowhere.
  const child = fork(file(program), [kind, JSON.stringify(options)], {
    execArgv,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const exited = once(child, "exit").then(([code, signal]) => ({ code, signal, atNs: nowNs() }));
  let computedMs = 0;
  child.on("message", (value) => {
    computedMs = value.computedMs ?? computedMs;
  });
  const port = await message(child, "port");
  const ask = (word) => {
    const answer = message(child, word);
    child.send(word);
    return answer;
  };
  return {
    child,
    port,
    exited,
    /** What the server computed between the end of its drain and its exit. */
    computedMs: () => computedMs,
    memory: () => ask("memory"),
    /** A client's connection stands, and its request is written, long before a busy server has seen it. */
    async hasSeen(requests) {
      while ((await ask("seen")) < requests);
    },
  };
}

/** Clients that say `ready` when all their connections stand, and `settled` when all of them are through. */
export async function startClients(program, args) {
  const child = fork(file(program), args.map(String), { stdio: ["ignore", "ignore", "inherit", "ipc"] });
  const settled = message(child, "settled");
  // Wanted later or not at all: clients that fail show themselves in `ready` first.
  settled.catch(() => {});
  await message(child, "ready");
  return { child, settled };
}

/** Resolves when all its connections stand and the server has read every request. `settled` is the fate of the busy ones. */
export async function startCrowd(server, { idle = 0, busy = 0, path = "/" }) {
  const child = fork(file("./client.mjs"), [server.port, idle, busy, path].map(String), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const settled = busy > 0 ? message(child, "settled") : undefined;
  // Wanted later or not at all: a crowd that fails shows itself in `ready` first.
  settled?.catch(() => {});
  await message(child, "ready");
  await server.hasSeen(idle + busy);
  return { child, settled };
}
