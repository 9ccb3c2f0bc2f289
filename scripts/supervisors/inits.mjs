// tini and dumb-init as PID 1 of a namespace of their own: in front of node they pass the signal on and wait; in front of a
// shell they leave with the shell, and what runs behind it is killed in the middle of its work.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";

const NAMESPACE = ["--fork", "--pid", "--mount-proc", "--kill-child"];

async function start({ node, env, import: flags, file, init, shell }) {
  const words = [node, ...flags, file];
  const command = shell ? ["/bin/sh", "-c", `${words.join(" ")}; true`] : words;
  const child = spawn("unshare", [...NAMESPACE, ...init, ...command], {
    stdio: ["ignore", "ignore", "pipe"],
    env,
  });
  let said = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (said += text));
  const closed = once(child, "close");
  return {
    async stop() {
      const pid = Number(readFileSync(`/proc/${child.pid}/task/${child.pid}/children`, "utf8").trim());
      process.kill(pid, "SIGTERM");
      const [code, signal] = await closed;
      return { exit: code ?? signal, said };
    },
    async end() {
      child.kill("SIGKILL");
      await closed;
    },
  };
}

const kept = { start, load: true, expect: { answer: 200, exit: 0 } };
const behindShell = {
  start,
  shell: true,
  expect: {
    answer: "ECONNRESET",
    exit: 143,
    records: 0,
    says: /gets the stop signal instead.*LASTCALL_WRAPPER/,
  },
};

export const INITS = [
  { ...kept, name: "tini -- node", init: ["tini", "--"] },
  { ...kept, name: "dumb-init node", init: ["dumb-init"] },
  { ...behindShell, name: "control: tini -- sh -c: said at start", init: ["tini", "--"] },
  { ...behindShell, name: "control: dumb-init sh -c: said at start", init: ["dumb-init"] },
];
