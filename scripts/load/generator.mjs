// Starts connections.mjs beside a script, and ends it with what it has seen.
import { spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { fileURLToPath } from "node:url";

const program = path.join(path.dirname(fileURLToPath(import.meta.url)), "connections.mjs");

/** Resolves when load is under way, with the function that ends it. `before`: what runs node, in a namespace say. */
export async function startLoad({ port, rate, pool = false, before = [] }) {
  const words = [...before, process.execPath, program, String(port), String(rate), ...(pool ? ["pool"] : [])];
  const child = spawn(words[0], words.slice(1), { stdio: ["pipe", "pipe", "pipe"] });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (part) => {
    text += part;
  });
  const closed = once(child, "close");
  await Promise.race([once(child.stderr, "data"), closed]);
  return async () => {
    child.stdin.end();
    await closed;
    const seen = JSON.parse(text);
    return { ...seen, lost: seen.sent - (seen.outcomes["200"] ?? 0) };
  };
}

/** `ECONNREFUSED 12, cut 1`; everything that is no answer of 200. */
export function describeLosses({ outcomes }) {
  const lost = Object.entries(outcomes).filter(([outcome]) => outcome !== "200");
  return lost.map(([outcome, count]) => `${outcome} ${count}`).join(", ");
}
