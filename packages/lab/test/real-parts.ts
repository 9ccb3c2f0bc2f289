/** Real programs that tests run: absent on a user's laptop they are skipped by name, absent in CI they are a failure. */

import { spawnSync } from "node:child_process";
import { findRouter } from "../src/router/find.ts";
import type { FoundRouter } from "../src/router/router.ts";

/** Null where it may be missing. */
export async function realRouter(name: FoundRouter["name"]): Promise<FoundRouter | null> {
  const found = await findRouter(name, process.env);
  if (found === null && process.env["CI"] !== undefined) {
    throw new Error(`${name} is missing, and CI should have it: apt-get install ${name}`);
  }
  return found;
}

export async function realNginx(): Promise<FoundRouter | null> {
  return realRouter("nginx");
}

/** What a test that runs this program says under `skip`: its reason where it may be missing, else false. */
export function realProgram(name: string, debianPackage: string): string | false {
  if (spawnSync(name, ["--version"], { stdio: "ignore" }).error === undefined) {
    return false;
  }
  if (process.env["CI"] !== undefined) {
    throw new Error(`${name} is missing, and CI should have it: apt-get install ${debianPackage}`);
  }
  return `${name} is not here`;
}

/** Whether a Docker engine of our own can be started, and Compose is there. */
export function realDocker(): boolean {
  const missing = ["dockerd", "docker", "docker-compose", "unshare", "nsenter", "ip"].filter(
    (program) => spawnSync("sh", ["-c", 'command -v "$1"', "sh", program]).status !== 0,
  );
  const able = process.platform === "linux" && process.getuid?.() === 0 && missing.length === 0;
  if (!able && process.env["LASTCALL_CI"] !== undefined) {
    throw new Error(
      `CI should be able to start a Docker engine: apt-get install docker.io docker-compose iproute2 (missing: ${missing.join(", ")})`,
    );
  }
  return able;
}
