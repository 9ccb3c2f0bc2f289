/** `pid1`: who gets the signal. PID 1 of a namespace is told nothing that it has no handler for. */

import { execFile } from "node:child_process";
import { readFileSync, realpathSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { isAnswered } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, type Judgement } from "./judgement.ts";
import type { OrdersSpec } from "./orders.ts";
import type { Stage } from "./stage.ts";

/** How long the process may take to leave: it has nothing in flight. */
const PATIENCE_MS = 2500;
const NAMESPACE = ["--fork", "--pid", "--mount-proc", "--kill-child"];

export interface Pid1Case {
  readonly what: string;
  /** `none`: there is no such program here. */
  readonly seen: "ignored, still serving" | "left" | "neither left nor serves" | "none";
  readonly exitCode: number | null;
  readonly wanted: "ignored, still serving" | "left";
  readonly wantedCode: number | null;
}

export interface Pid1Facts {
  /** Why no PID namespace can be made here; null where one can. */
  readonly obstacle: string | null;
  readonly cases: readonly Pid1Case[];
}

interface Wrapper {
  readonly what: string;
  readonly build: OrdersSpec["build"];
  readonly wrap: (command: readonly string[]) => readonly string[];
  readonly wanted: Pid1Case["wanted"];
  readonly wantedCode: number | null;
  /** Programs that it needs. */
  readonly needs?: string;
}

const quoted = (command: readonly string[]): string =>
  command.map((part) => `'${part.replaceAll("'", "'\\''")}'`).join(" ");

const ignored = { wanted: "ignored, still serving", wantedCode: null } as const;
const WRAPPERS: readonly Wrapper[] = [
  { what: "node, without a handler", build: "bare", wrap: (command) => command, ...ignored },
  {
    what: "node, with a handler (lastcall)",
    build: "lastcall",
    wrap: (command) => command,
    wanted: "left",
    wantedCode: 0,
  },
  {
    what: 'sh -c "node app", on dash',
    build: "lastcall",
    wrap: (command) => ["dash", "-c", quoted(command)],
    needs: "dash",
    ...ignored,
  },
  {
    what: 'sh -c "exec node app"',
    build: "lastcall",
    wrap: (command) => ["sh", "-c", `exec ${quoted(command)}`],
    wanted: "left",
    wantedCode: 0,
  },
  {
    what: "tini -- node, without a handler",
    build: "bare",
    wrap: (command) => ["tini", "--", ...command],
    needs: "tini",
    wanted: "left",
    wantedCode: 143,
  },
  {
    what: "tini -- node, with a handler",
    build: "lastcall",
    wrap: (command) => ["tini", "--", ...command],
    needs: "tini",
    wanted: "left",
    wantedCode: 0,
  },
  {
    what: 'tini -- sh -c "node app; true"',
    build: "lastcall",
    wrap: (command) => ["tini", "--", "sh", "-c", `${quoted(command)}; true`],
    needs: "tini",
    wanted: "left",
    wantedCode: 143,
  },
];

/** What to put in front of a command; or why there is nothing. */
async function namespacePrefix(): Promise<
  { readonly prefix: readonly string[] } | { readonly obstacle: string }
> {
  let obstacle = "unshare was not found";
  for (const more of [[], ["--user", "--map-root-user"]]) {
    const prefix = ["unshare", ...more, ...NAMESPACE];
    try {
      // One after the other: the second is for those who are not root.
      await promisify(execFile)("unshare", [...prefix.slice(1), "true"], { timeout: 5000 });
      return { prefix };
    } catch (error) {
      const { code, stderr } = error as { readonly code?: unknown; readonly stderr?: string };
      obstacle = code === "ENOENT" ? obstacle : (stderr ?? String(error)).trim();
    }
  }
  return { obstacle };
}

async function isInstalled(program: string): Promise<boolean> {
  try {
    await promisify(execFile)("sh", ["-c", 'command -v "$1"', "sh", program]);
    return true;
  } catch {
    return false; // The shell says so by its exit code.
  }
}

/** The namespace's PID 1 as the rest of the machine sees it: the only child of `unshare`. */
function innerPid(outer: number): number {
  return Number(readFileSync(`/proc/${outer}/task/${outer}/children`, "utf8").trim().split(" ")[0]);
}

async function playCase(
  stage: Stage,
  prefix: readonly string[],
  wrapper: Wrapper,
  n: number,
): Promise<Pid1Case> {
  const { what, build, wanted, wantedCode, needs } = wrapper;
  if (needs !== undefined && !(await isInstalled(needs))) {
    return { what, seen: "none", exitCode: null, wanted, wantedCode };
  }
  const service = await stage.start({
    name: `pid1-${n}`,
    build,
    wrap: (command) => [...prefix, ...wrapper.wrap(command)],
  });
  // unshare itself takes no notice of SIGTERM; a platform would signal the PID 1 inside.
  process.kill(innerPid(service.copy.pid), "SIGTERM");
  const exit = await stage.scope.within(service.copy.exited, PATIENCE_MS);
  const serves = isAnswered(await stage.until(service.ask({ path: "/health", timeoutMs: 2000 })), 200);
  await service.copy.end();
  const seen = exit !== null ? "left" : serves ? "ignored, still serving" : "neither left nor serves";
  return { what, seen, exitCode: exit?.code ?? null, wanted, wantedCode };
}

function inWords({ seen, exitCode }: Pid1Case): string {
  return seen === "left" ? `left with ${exitCode ?? "a signal"}` : seen;
}

export function judgePid1({ obstacle, cases }: Pid1Facts): Judgement {
  if (obstacle !== null) {
    return judge([check("a PID namespace can be made", null, obstacle)], "");
  }
  const played = cases.filter(({ seen }) => seen !== "none");
  const lost = played.filter(({ seen }) => seen === "ignored, still serving").length;
  return judge(
    [
      check(
        "there are cases to judge",
        played.length >= 4 ? true : null,
        `${played.length} of ${cases.length} can be played here`,
      ),
      ...played.map((one) =>
        check(
          `PID 1 is ${one.what}: ${one.wanted}${one.wantedCode === null ? "" : `, code ${one.wantedCode}`}`,
          one.seen === one.wanted && (one.wantedCode === null || one.exitCode === one.wantedCode),
          inWords(one),
        ),
      ),
    ],
    `${lost} of ${played.length} commands never hear the signal as PID 1: their platform waits for the whole grace period and kills them.`,
  );
}

export const pid1Experiment: Experiment = {
  name: "pid1",
  summary: "who gets the signal: PID 1, shells, an init in front",
  question:
    "In a container the command is PID 1, and the kernel drops a signal to PID 1 that it has no handler for. A shell in front " +
    "keeps the signal to itself. Each command runs in a PID namespace of its own and gets one SIGTERM.",
  lastsS: 15,
  play: async (stage) => {
    const { tale } = stage;
    const space = await namespacePrefix();
    if ("obstacle" in space) {
      tale.say(`No PID namespace can be made here: ${space.obstacle}.`);
      const facts = { obstacle: space.obstacle, cases: [] };
      return { facts, judgement: judgePid1(facts) };
    }
    const cases: Pid1Case[] = [];
    for (const [n, wrapper] of WRAPPERS.entries()) {
      // One at a time: each is a machine of its own that is signalled.
      const one = await playCase(stage, space.prefix, wrapper, n);
      cases.push(one);
      stage.learnt(wrapper.what, one);
    }
    const shell = path.basename(realpathSync("/bin/sh"));
    tale.table(
      ["PID 1", "after SIGTERM", "the usual end"],
      cases.map((one) => [
        one.what,
        one.seen === "none" ? "not installed here" : inWords(one),
        one.seen === "ignored, still serving" ? "SIGKILL when the grace period is over (137)" : "",
      ]),
    );
    tale.say(
      `/bin/sh is ${shell} here. bash and busybox replace themselves by the last command of a line; dash does not.`,
    );
    const facts = { obstacle: null, cases };
    return { facts, judgement: judgePid1(facts) };
  },
};
