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

export async function startServer(kind, options = {}, execArgv = []) {
  // Its talk is not measured and must not fill a pipe: stderr goes nowhere.
  const child = fork(file("./server.mjs"), [kind, JSON.stringify(options)], {
    execArgv,
    stdio: ["ignore", "ignore", "ignore", "ipc"],
  });
  const exited = once(child, "exit").then(([code, signal]) => ({ code, signal, atNs: nowNs() }));
  const port = await message(child, "port");
  return {
    child,
    port,
    exited,
    memory: () => {
      const answer = message(child, "memory");
      child.send("memory");
      return answer;
    },
  };
}

/** Resolves when all its connections stand. `settled` is the fate of the busy ones. */
export async function startCrowd(port, { idle = 0, busy = 0, path = "/" }) {
  const child = fork(file("./client.mjs"), [port, idle, busy, path].map(String), {
    stdio: ["ignore", "ignore", "inherit", "ipc"],
  });
  const settled = busy > 0 ? message(child, "settled") : undefined;
  // Wanted later or not at all: a crowd that fails shows itself in `ready` first.
  settled?.catch(() => {});
  await message(child, "ready");
  return { child, settled };
}
