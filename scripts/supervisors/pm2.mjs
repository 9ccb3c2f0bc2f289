// pm2: `stop` by signal and by message, and `reload` of a cluster, with other requests coming.
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const tools = fileURLToPath(new URL("../../tools/supervisors", import.meta.url));

async function start({ folder, node, env, import: flags, file, command, mode, instances, more }) {
  if (!existsSync(path.join(tools, "node_modules"))) {
    const done = spawnSync("npm", ["ci", "--no-fund", "--no-audit"], { cwd: tools, stdio: "inherit" });
    if (done.status !== 0) throw new Error("npm ci of tools/supervisors failed");
  }
  const pm2 = async (...args) => {
    const child = spawn(node, [path.join(tools, "node_modules/pm2/bin/pm2"), ...args], {
      stdio: "ignore",
      // The service's variables come by the configuration; pm2's own processes get none of them.
      env: { PATH: process.env.PATH, HOME: folder, PM2_HOME: path.join(folder, "pm2"), CI: "1" },
      timeout: 60_000,
    });
    const [code] = await once(child, "exit");
    if (code !== 0) throw new Error(`pm2 ${args.join(" ")} ended with ${code}`);
  };
  const config = path.join(folder, "ecosystem.config.json");
  const app = {
    name: "service",
    script: file,
    interpreter: node,
    node_args: flags.join(" "),
    exec_mode: mode,
    instances,
    wait_ready: true,
    listen_timeout: 30_000,
    kill_timeout: 8000,
    env,
    ...more,
  };
  writeFileSync(config, JSON.stringify({ apps: [app] }));
  await pm2("start", config);
  return {
    async stop() {
      await pm2(command, "service");
      return {};
    },
    async end() {
      await pm2("delete", "all");
      await pm2("kill");
    },
  };
}

const fork = { start, mode: "fork", instances: 1, command: "stop", load: true };

export const PM2 = [
  { ...fork, name: "pm2 stop, fork mode", expect: { answer: 200 } },
  { ...fork, name: "pm2 stop by message", more: { shutdown_with_message: true }, expect: { answer: 200 } },
  {
    name: "pm2 reload, cluster of 2",
    start,
    mode: "cluster",
    instances: 2,
    command: "reload",
    load: "lossless",
    expect: { answer: 200, records: 2 },
  },
];
