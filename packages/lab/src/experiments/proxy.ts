/** `proxy`: nginx's own three exits, with four requests in flight. */

import { readFileSync } from "node:fs";
import path from "node:path";
import { ask, type Fate } from "./answer.ts";
import type { Experiment } from "./experiment.ts";
import { check, judge, type Judgement } from "./judgement.ts";
import type { Stage } from "./stage.ts";

const FOUR = 4;
const EXITS = {
  reload: { signal: "SIGHUP", does: "reads its configuration again; old workers finish" },
  quit: { signal: "SIGQUIT", does: "finishes what it has, then leaves" },
  stop: { signal: "SIGTERM", does: "leaves now" },
} as const;
type Exit = keyof typeof EXITS;

export interface ProxyFacts {
  /** Null: no nginx here. */
  readonly nginx: string | null;
  readonly fates: Readonly<Partial<Record<Exit, readonly Fate[]>>>;
}

async function playExit(stage: Stage, exit: Exit): Promise<readonly Fate[]> {
  const service = await stage.start({ name: exit, build: "bare" });
  const router = await stage.route([service], { folder: path.join(stage.folder, `nginx-${exit}`) });
  const answers = Promise.all(
    Array.from({ length: FOUR }, (_, n) => ask(router.port, { path: `/work?seconds=1&id=${n + 1}` })),
  );
  await stage.sleep(300);
  // The master's own number, from the file that nginx itself has written.
  const pid = Number(readFileSync(path.join(stage.folder, `nginx-${exit}`, "nginx.pid"), "utf8"));
  process.kill(pid, EXITS[exit].signal);
  const fates = await stage.until(answers);
  stage.learnt(exit, fates);
  return fates;
}

function inShort(fates: readonly Fate[] | undefined): string {
  const whole = fates?.filter((fate) => fate.ending === "answered" && fate.status === 200).length ?? 0;
  const cut = fates?.filter((fate) => fate.ending === "cut" && fate.status === null).length ?? 0;
  return (
    [...(whole > 0 ? [`${whole} x 200`] : []), ...(cut > 0 ? [`${cut} x cut, no response at all`] : [])].join(
      ", ",
    ) || "neither"
  );
}

export function judgeProxy({ nginx, fates }: ProxyFacts): Judgement {
  const one = (exit: Exit, wanted: string): ReturnType<typeof check> =>
    check(
      `${exit} (${EXITS[exit].signal}): ${wanted}`,
      nginx === null ? null : inShort(fates[exit]) === wanted,
      nginx === null ? "nginx was not found" : inShort(fates[exit]),
    );
  return judge(
    [one("reload", "4 x 200"), one("quit", "4 x 200"), one("stop", "4 x cut, no response at all")],
    `${nginx ?? "nginx"} loses nothing on reload and quit, and every request on stop: and stop is what a plain SIGTERM does to it.`,
  );
}

export const proxyExperiment: Experiment = {
  name: "proxy",
  summary: "nginx's own three exits: reload, quit, stop",
  question:
    "The router is a process, too, and is stopped. nginx with four requests of 1 s in flight is told to reload (SIGHUP), to quit " +
    "(SIGQUIT) and to stop (SIGTERM, what a platform sends where nobody has said otherwise).",
  lastsS: 6,
  play: async (stage) => {
    const found = await stage.findNginx();
    const fates: Partial<Record<Exit, readonly Fate[]>> = {};
    if (found === null) {
      stage.tale.say("nginx was not found. The embedded router has no such exits: there is nothing to play.");
    } else {
      stage.tale.part(`Four requests in flight through ${found.version}`);
      for (const exit of Object.keys(EXITS) as readonly Exit[]) {
        fates[exit] = await playExit(stage, exit);
      }
      stage.tale.table(
        ["exit", "signal", "what nginx does", "the clients"],
        (Object.keys(EXITS) as readonly Exit[]).map((exit) => [
          exit,
          EXITS[exit].signal,
          EXITS[exit].does,
          inShort(fates[exit]),
        ]),
      );
    }
    const facts = { nginx: found?.version ?? null, fates };
    return { facts, judgement: judgeProxy(facts) };
  },
};
