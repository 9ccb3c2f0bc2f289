/**
 * `--platform compose`: each copy is the service of a real compose file in a project of its own, stopped by Compose with
 * the file's own stop signal, init and stop_grace_period. What happens to it is read off the engine's events.
 */

import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { LabError } from "../errors.ts";
import { ComposeCopy, type Readiness } from "./compose-copy.ts";
import { readCompose } from "./compose-file.ts";
import type { CopyHost } from "./copy-host.ts";
import { assertEngine, docker, followEvents, lastWords, runProgram } from "./docker.ts";
import { publishedHost } from "./published-host.ts";

type Environment = Readonly<Record<string, string | undefined>>;

export interface ComposeOptions extends Readiness {
  readonly file: string;
  readonly service: string | null;
  readonly containerPort: number | null;
}

/** `docker compose` where it is there, else `docker-compose`. */
async function findCompose(env: Environment): Promise<readonly [string, ...string[]]> {
  for (const candidate of [["docker", "compose"], ["docker-compose"]] as const) {
    const [program, ...first] = candidate;
    // The first that works.
    const seen = await runProgram(program, [...first, "version"], env);
    if (seen.code === 0) {
      return candidate;
    }
  }
  throw new LabError(
    "LAB_PLATFORM_MISSING",
    "Neither `docker compose` nor `docker-compose` was found.",
    "Install the compose plugin, or docker-compose.",
  );
}

/** Reads the file and finds the engine. Throws `LAB_PLATFORM_MISSING`, `LAB_PLATFORM_REFUSED`, `LAB_OPTION`. */
export async function openCompose(options: ComposeOptions, cwd: string, env: Environment): Promise<CopyHost> {
  await assertEngine(env);
  const [program, ...first] = await findCompose(env);
  const compose = async (...args: readonly string[]): Promise<string> => {
    const seen = await runProgram(program, [...first, ...args], env);
    if (seen.code !== 0) {
      throw new LabError(
        "LAB_PLATFORM_REFUSED",
        `${[program, ...first].join(" ")} ${args.filter((arg) => !arg.startsWith("/")).join(" ")} ended with exit code ${seen.code}.${lastWords(seen)}`,
        "Read its words above.",
      );
    }
    return seen.out;
  };
  const file = path.resolve(cwd, options.file);
  const service = readCompose(await compose("-f", file, "config"), options.service, options.containerPort);
  const host = await publishedHost(env);
  const prefix = `lastcall-${process.pid}-${Date.now().toString(36)}`;
  return {
    name: "compose",
    gracePeriodMs: service.gracePeriodMs,
    about: `${options.file}, service ${service.name}: ${service.stopSignal}${service.init ? ", init" : ""}`,
    startCopy: async (name, port, folder, context) => {
      const project = `${prefix}-${name.toLowerCase()}`;
      const own = path.join(folder, `compose-${name}.yaml`);
      mkdirSync(folder, { recursive: true });
      writeFileSync(own, service.fileFor(host, port));
      const ofCopy = (...args: readonly string[]): Promise<string> =>
        compose("-p", project, "-f", own, ...args);
      const copy = new ComposeCopy(name, host, port, service, options, ofCopy, context);
      const following = followEvents(
        env,
        [
          "type=container",
          `label=com.docker.compose.project=${project}`,
          `label=com.docker.compose.service=${service.name}`,
        ],
        context.clock,
        context.guardian,
        (event) => copy.see(event),
      );
      try {
        await ofCopy("up", "-d", service.name);
        const id = (await ofCopy("ps", "-q", service.name)).trim();
        copy.pid = Number(await docker(env, "inspect", "--format", "{{.State.Pid}}", id));
      } catch (error) {
        following.close();
        await copy.end().catch(() => undefined); // What could not be started is what is told.
        throw error;
      }
      const end = copy.end.bind(copy);
      copy.end = async (): Promise<void> => {
        following.close();
        await end();
      };
      return copy;
    },
  };
}
