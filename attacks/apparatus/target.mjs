// One process of the service: started, waited for, told to stop, read back when it is gone. Whatever ends this program ends it too.
import { spawn } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

export const SERVICE = fileURLToPath(new URL("service.mjs", import.meta.url));

/** The clock that all processes of a machine share, in milliseconds. */
export const now = () => Number(process.hrtime.bigint()) / 1e6;

const running = new Set();
process.on("exit", () => running.forEach((child) => child.kill("SIGKILL")));

let serial = 0;

/** Resolves when it listens. `settings` are environment variables. */
export async function startTarget(stop, settings, folder) {
  const executedFile = path.join(folder, `executed-${(serial += 1)}.txt`);
  const child = spawn(process.execPath, [SERVICE], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: process.env.PATH, STOP: stop, EXECUTED: executedFile, LASTCALL_LOG: "none", ...settings },
  });
  running.add(child);
  const said = new Map();
  const waiting = new Map();
  let errors = "";
  let rest = "";
  child.stderr.setEncoding("utf8").on("data", (part) => (errors += part));
  child.stdout.setEncoding("utf8").on("data", (part) => {
    const lines = (rest + part).split("\n");
    rest = lines.pop();
    for (const line of lines.filter((one) => one.startsWith("{"))) {
      const event = JSON.parse(line);
      said.set(event.event, event);
      waiting.get(event.event)?.(event);
    }
  });
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      running.delete(child);
      resolve({ code, signal, at: now() });
    });
  });
  /** The line of this event; rejects when the process ends without it. */
  const line = (event) =>
    said.has(event)
      ? Promise.resolve(said.get(event))
      : new Promise((resolve, reject) => {
          waiting.set(event, resolve);
          void exited.then(() =>
            said.has(event)
              ? resolve(said.get(event))
              : reject(new Error(`It ended without ${event}: ${errors}`)),
          );
        });
  const { port } = await line("listening");
  return {
    port,
    line,
    exited,
    signal: () => child.kill("SIGTERM"),
    /** Ends it after so many milliseconds, if it has not ended itself; says whether it had to. */
    async gone(patienceMs) {
      let killed = false;
      const timer = setTimeout(() => {
        killed = true;
        child.kill("SIGKILL");
      }, patienceMs);
      const exit = await exited;
      clearTimeout(timer);
      return { ...exit, killed };
    },
    /** The ids of the orders that were executed, as often as they were. */
    executed: () =>
      existsSync(executedFile) ? readFileSync(executedFile, "utf8").split("\n").filter(Boolean) : [],
  };
}
