// Each protocol library for real: a service, clients that are busy with it, SIGTERM, and what the clients saw; then the
// same against plain Node. Installs what is missing. A case is kept when every line of it holds; plain Node decides nothing.
// Usage: node tools/protocols/run.mjs [--node PATH]... [--no-plain] [CASE]...
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";

const folder = path.dirname(fileURLToPath(import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { node: { type: "string", multiple: true }, "no-plain": { type: "boolean" } },
});
if (!existsSync(path.join(folder, "node_modules"))) {
  const done = spawnSync("npm", ["ci", "--no-fund", "--no-audit"], { cwd: folder, stdio: "inherit" });
  if (done.status !== 0) process.exit(done.status ?? 1);
}
const { CASES } = await import("./clients.mjs");

const TIMES = {
  LASTCALL_GRACE_PERIOD: "20s",
  LASTCALL_DRAIN_DELAY: "1500ms",
  LASTCALL_GRACEFUL_TIMEOUT: "6s",
  LASTCALL_TEARDOWN_TIMEOUT: "1s",
};

async function run(node, one, plain) {
  const child = spawn(node, [path.join(folder, "cases", one.service)], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...TIMES, ...one.env, ...(plain ? { PLAIN: "1" } : {}) },
  });
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text) => (errors += text));
  const exit = once(child, "exit");
  try {
    const [line] = await Promise.race([
      once(child.stdout.setEncoding("utf8"), "data"),
      exit.then(() => Promise.reject(new Error(`the service did not start: ${errors}`))),
    ]);
    const { port } = JSON.parse(line);
    const stop = () => {
      child.kill("SIGTERM");
      return performance.now();
    };
    const seen = await one.clients(port, stop);
    const [code, signal] = await exit;
    const record = /^\{"schema".*$/m.exec(errors);
    return { ...seen, exit: code ?? signal, record: record === null ? null : JSON.parse(record[0]) };
  } finally {
    child.kill("SIGKILL");
  }
}

let broken = 0;
// A client's own timers may be none that keep this process.
const stay = setInterval(() => {}, 1000);
const names = positionals.length === 0 ? Object.keys(CASES) : positionals;
for (const node of values.node ?? [process.execPath]) {
  const version = spawnSync(node, ["--version"], { encoding: "utf8" }).stdout.trim();
  for (const name of names) {
    for (const plain of values["no-plain"] ? [false] : [false, true]) {
      const seen = await run(node, CASES[name], plain);
      const { record, ...shown } = seen;
      const kept = CASES[name].kept({ ...seen, record: record ?? {} });
      if (!plain && !kept) broken += 1;
      const who = plain ? "plain Node" : "lastcall";
      console.log(
        `${kept ? "kept  " : "broken"}  ${version.padEnd(9)} ${who.padEnd(10)} ${name}: ${JSON.stringify(shown)}`,
      );
      if (!plain && !kept) console.log(JSON.stringify(record));
    }
  }
}
clearInterval(stay);
process.exit(broken === 0 ? 0 : 1);
