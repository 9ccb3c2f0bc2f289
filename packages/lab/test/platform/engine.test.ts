// A real Docker engine, in a network of its own so that the machine's stays as it is, and a real compose file.
import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { after, before, describe, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { realDocker } from "../real-parts.ts";

const FIXTURE = fileURLToPath(new URL("../fixtures/stops-in-compose.js", import.meta.url));
const APP = `
const http = require("node:http");
const [kind] = process.argv.slice(2);
if (kind === "polite") process.on("SIGQUIT", () => process.exit(7));
if (kind === "deaf") process.on("SIGTERM", () => undefined);
http.createServer((req, res) => res.end("ok")).listen(8080, "0.0.0.0");
`;
const COMPOSE = `
services:
  polite: { image: "app:1", command: ["polite"], ports: ["8080"], stop_signal: SIGQUIT, stop_grace_period: 20s }
  deaf: { image: "app:1", command: ["deaf"], ports: ["8080"], stop_grace_period: 1s }
  bare: { image: "app:1", command: ["bare"], ports: ["8080"], init: true, stop_grace_period: 20s }
`;

interface Seen {
  readonly about: string;
  readonly gracePeriodMs: number;
  readonly host: string;
  readonly code: number | null;
  readonly signal: string | null;
  readonly told: readonly string[];
}

/** This machine's Node and its libraries as an image: no registry is asked. */
function makeImage(folder: string, env: NodeJS.ProcessEnv): void {
  const root = path.join(folder, "root");
  const node = realpathSync(process.execPath);
  mkdirSync(path.join(root, "usr/bin"), { recursive: true });
  cpSync(node, path.join(root, "usr/bin/node"));
  for (const [library] of execFileSync("ldd", [node], { encoding: "utf8" }).matchAll(/\/[^ )\s]+/g)) {
    mkdirSync(path.dirname(path.join(root, library)), { recursive: true });
    cpSync(library, path.join(root, library), { dereference: true });
  }
  writeFileSync(path.join(root, "app.js"), APP);
  const entry = `ENTRYPOINT ["/usr/bin/node","/app.js"]`;
  const packed = `tar -C "${root}" -c . | docker import -c '${entry}' - app:1`;
  execFileSync("sh", ["-c", packed], { env, stdio: "ignore" });
}

describe(
  "a real compose file",
  { skip: realDocker() ? false : "no Docker engine can be started here" },
  () => {
    const folder = mkdtempSync(path.join(tmpdir(), "lastcall-engine-"));
    const cgroup = path.basename(folder);
    const env = { ...process.env, DOCKER_HOST: `unix://${folder}/docker.sock` };
    let engine: ChildProcess;

    before(async () => {
      const flags = [
        "--data-root",
        `${folder}/data`,
        "--exec-root",
        `${folder}/exec`,
        "--pidfile",
        `${folder}/pid`,
      ];
      const more = [
        "-H",
        `unix://${folder}/docker.sock`,
        "--storage-driver",
        "overlay2",
        "--cgroup-parent",
        cgroup,
      ];
      const inside = 'ip link set lo up && exec dockerd "$@"';
      engine = spawn("unshare", ["--net", "sh", "-c", inside, "sh", ...flags, ...more], { stdio: "ignore" });
      for (
        let tries = 0;
        spawnSync("docker", ["version"], { env, stdio: "ignore" }).status !== 0;
        tries += 1
      ) {
        assert.ok(tries < 300 && engine.exitCode === null, "the engine did not start");
        await sleep(100);
      }
      makeImage(folder, env);
      writeFileSync(path.join(folder, "compose.yaml"), COMPOSE);
    });

    after(async () => {
      if (existsSync(`${folder}/pid`)) {
        process.kill(Number(readFileSync(`${folder}/pid`, "utf8")), "SIGTERM");
        await once(engine, "exit");
      }
      // Docker leaves the groups that it was told to make its own below.
      spawnSync("find", [
        "/sys/fs/cgroup",
        "-depth",
        "-path",
        `*/${cgroup}*`,
        "-type",
        "d",
        "-exec",
        "rmdir",
        "{}",
        "+",
      ]);
      rmSync(folder, { recursive: true, force: true });
    });

    function stopOf(service: string): Seen {
      const args = [
        "-t",
        String(engine.pid),
        "--net",
        process.execPath,
        FIXTURE,
        path.join(folder, "compose.yaml"),
        service,
      ];
      return JSON.parse(execFileSync("nsenter", args, { env, encoding: "utf8", timeout: 100_000 })) as Seen;
    }

    test("its stop signal is the one that is sent, and the exit code the container's", () => {
      const seen = stopOf("polite");
      assert.match(seen.about, /service polite: SIGQUIT/);
      assert.deepEqual([seen.code, seen.signal, seen.gracePeriodMs], [7, null, 20_000]);
      assert.deepEqual(
        seen.told.filter((event) => !event.startsWith("not-ready")),
        ["started", "ready", "signal SIGQUIT", "exited 7"],
      );
      // Reached by the bridge, where a closed door is refused, and not by Docker's proxy, which takes every connection.
      assert.notEqual(seen.host, "127.0.0.1");
    });

    test("a service that ignores it is killed when the file's grace period is over", () => {
      const seen = stopOf("deaf");
      assert.deepEqual([seen.code, seen.signal], [null, "SIGKILL"]);
      assert.deepEqual(
        seen.told.filter((event) => !event.startsWith("not-ready")),
        ["started", "ready", "signal SIGTERM", "killed SIGKILL", "exited SIGKILL"],
      );
    });

    test("with an init in front a service without a handler leaves at once", () => {
      const seen = stopOf("bare");
      assert.match(seen.about, /init/);
      assert.deepEqual([seen.code, seen.signal], [143, null]);
    });
  },
);
