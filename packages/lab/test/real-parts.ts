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
