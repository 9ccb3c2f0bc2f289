/** Finds a router's program on this machine: by the variable that names it, else on the PATH and where Debian keeps it. */

import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { LabError } from "../errors.ts";
import type { FoundRouter } from "./router.ts";

export type Env = Readonly<Record<string, string | undefined>>;

interface Program {
  /** The variable that names the program to use. */
  readonly variable: string;
  readonly versionArgs: readonly string[];
  /** Its version in what it prints. */
  readonly version: RegExp;
  /** The lowest that the lab can drive: `[major, minor]`. */
  readonly lowest: readonly [number, number];
  readonly install: string;
}

const PROGRAMS: Readonly<Record<FoundRouter["name"], Program>> = {
  nginx: {
    variable: "LASTCALL_NGINX",
    versionArgs: ["-v"],
    version: /nginx\/(\d+\.\d+[\d.]*)/,
    lowest: [1, 10],
    install: "apt-get install nginx-light, brew install nginx",
  },
  haproxy: {
    variable: "LASTCALL_HAPROXY",
    versionArgs: ["-v"],
    version: /HAProxy version (\d+\.\d+[\d.]*)/i,
    // Servers that are added by the runtime socket, with health checks.
    lowest: [2, 6],
    install: "apt-get install haproxy, brew install haproxy",
  },
  caddy: {
    variable: "LASTCALL_CADDY",
    versionArgs: ["version"],
    version: /^v?(\d+\.\d+[\d.]*)/,
    lowest: [2, 6],
    install: "apt-get install caddy, brew install caddy",
  },
};

/** What a program says of itself; null: it is not there, not executable, or something else by that name. */
async function versionOf(file: string, { versionArgs, version }: Program): Promise<string | null> {
  try {
    const { stdout, stderr } = await promisify(execFile)(file, [...versionArgs], { timeout: 5000 });
    return version.exec(stdout)?.[1] ?? version.exec(stderr)?.[1] ?? null;
  } catch {
    return null;
  }
}

/** Null where there is none. One whose version cannot be driven is found all the same; see `assertKnown`. */
export async function findRouter(name: FoundRouter["name"], env: Env): Promise<FoundRouter | null> {
  const program = PROGRAMS[name];
  const named = env[program.variable];
  // Debian puts daemons where a user's PATH does not look.
  const folders = [...(env["PATH"] ?? "").split(path.delimiter), "/usr/sbin", "/usr/local/sbin"];
  const files =
    named !== undefined && named !== ""
      ? [named]
      : [...new Set(folders.filter((folder) => folder !== ""))].map((folder) => path.join(folder, name));
  for (const file of files) {
    // The first that works; each try depends on the one before.
    const version = await versionOf(file, program);
    if (version !== null) {
      return {
        name,
        program: file,
        version: `${name === "nginx" ? "nginx" : name === "caddy" ? "Caddy" : "HAProxy"} ${version}`,
      };
    }
  }
  return null;
}

/** Whether the lab can drive this version. */
export function isKnown({ name, version }: Pick<FoundRouter, "name" | "version">): boolean {
  const [major = 0, minor = 0] = (version.split(" ")[1] ?? "").split(".").map(Number);
  const [lowestMajor, lowestMinor] = PROGRAMS[name].lowest;
  return major > lowestMajor || (major === lowestMajor && minor >= lowestMinor);
}

/** The router that was asked for, or `LAB_ROUTER_MISSING` or `LAB_ROUTER_VERSION` with the next step. */
export async function requireRouter(name: FoundRouter["name"], env: Env): Promise<FoundRouter> {
  const { variable, install, lowest } = PROGRAMS[name];
  const found = await findRouter(name, env);
  const named = env[variable] ?? "";
  if (found === null) {
    throw new LabError(
      "LAB_ROUTER_MISSING",
      `${name} was asked for and not found${named === "" ? " on the PATH, in /usr/sbin or in /usr/local/sbin" : ` at ${named}`}.`,
      `Install it (${install}), name it with ${variable}, or use --router embedded.`,
    );
  }
  if (!isKnown(found)) {
    throw new LabError(
      "LAB_ROUTER_VERSION",
      `${found.program} is ${found.version}; the lab can drive ${lowest.join(".")} and later.`,
      `Install a later one, name it with ${variable}, or use --router embedded.`,
    );
  }
  return found;
}
