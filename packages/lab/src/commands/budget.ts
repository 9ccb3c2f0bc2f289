/** `lastcall budget`: where the time between the stop decision and SIGKILL goes, and files with the right numbers in them. */

import { parseArgs } from "node:util";
import { LabError } from "../errors.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { type BudgetSum, worstSum } from "../lint/budget.ts";
import { EMITTERS } from "../lint/emit/all.ts";
import { size } from "../lint/emit/numbers.ts";
import { BUDGET_OPTIONS, budgetFlags, durationFlag, versionFlags } from "../lint/flags.ts";
import { lint } from "../lint/run.ts";
import { where } from "../lint/source.ts";
import { originText } from "../lint/time.ts";
import { drawSvg, drawText } from "../lint/timeline.ts";
import type { Command, Io } from "./command.ts";
import { misuse } from "./flags.ts";
import { save } from "./save.ts";

const HELP = `Usage: lastcall budget [PATH...] [options]
       lastcall budget --emit PLATFORM --router-lag 5s --longest-request 15s --teardown 5s --start 10s

The first form shows, for each workload in the files, the time from the stop decision to SIGKILL and what spends it.
The second writes a snippet with right-sized numbers: kubernetes, compose, systemd, docker, nginx or haproxy.

  --svg FILE                the picture as SVG
  --json                    the sums as JSON
  --drain-delay 5s  --graceful-timeout 15s  --teardown-timeout 5s
                            the service's own budget, for every workload
  --config FILE             instead of lastcall.config.json

  --emit PLATFORM           with the four measured numbers, each with the margin that you want; rounded up to seconds:
  --router-lag 5s             routers go on sending for so long after they are told: the drain delay
  --longest-request 15s       the longest request that should be finished
  --teardown 5s               closing pools and files
  --start 10s                 from start to ready
  --name orders  --image orders:1  --port 8080

Exit code: 0 every sum fits, 1 one does not, 2 wrong usage, 3 nothing to show and a file that could not be read.
`;

const OPTIONS = {
  ...BUDGET_OPTIONS,
  svg: { type: "string" },
  json: { type: "boolean" },
  config: { type: "string" },
  emit: { type: "string" },
  "router-lag": { type: "string" },
  "longest-request": { type: "string" },
  teardown: { type: "string" },
  start: { type: "string" },
  name: { type: "string" },
  image: { type: "string" },
  port: { type: "string" },
  help: { type: "boolean", short: "h" },
} as const;

type Values = ReturnType<typeof parseRaw>["values"];

export const budgetCommand: Command = {
  summary: "show where the time until SIGKILL goes, or write files with the right numbers",
  endsAtOnce: true,
  run: (args, io) => Promise.resolve(run(args, io)),
};

function parseRaw(
  args: readonly string[],
): ReturnType<typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>> {
  return parseArgs({ args: [...args], allowPositionals: true, options: OPTIONS });
}

function run(args: readonly string[], io: Io): ExitCode {
  let parsed: ReturnType<typeof parseRaw>;
  try {
    parsed = parseRaw(args);
  } catch (error) {
    throw misuse("budget", error, Object.keys(OPTIONS));
  }
  const { values, positionals } = parsed;
  if (values.help === true) {
    io.out(HELP);
    return EXIT.pass;
  }
  if (values.emit !== undefined) {
    io.out(emit(values.emit, values));
    return EXIT.pass;
  }
  const { model, findings } = lint({
    cwd: io.cwd,
    paths: positionals.length === 0 ? ["."] : positionals,
    ...(values.config === undefined ? {} : { config: values.config }),
    ...budgetFlags(values),
    ...versionFlags(values),
  });
  const unread = findings.filter(({ rule }) => rule.startsWith("file/"));
  for (const { at, message, rule } of unread) {
    io.err(`${where(at)}: ${message} [${rule}]\n`);
  }
  const sums = model.workloads.flatMap((workload) => worstSum(workload) ?? []);
  if (values.svg !== undefined) {
    save(io, values.svg, drawSvg(sums));
  }
  io.out(
    values.json === true
      ? toJson(sums)
      : sums.length === 0
        ? "No workload with a kill timer was found.\n"
        : sums.map((sum) => `${drawText(sum)}\n`).join(""),
  );
  if (sums.length === 0 && unread.some(({ severity }) => severity !== "info")) {
    return EXIT.couldNotRun;
  }
  return sums.some(({ slackMs }) => slackMs < 0) ? EXIT.failed : EXIT.pass;
}

function emit(platform: string, values: Values): string {
  const emitter = Object.hasOwn(EMITTERS, platform) ? EMITTERS[platform] : undefined;
  if (emitter === undefined) {
    throw new LabError(
      "LAB_USAGE",
      `There is no platform '${platform}'.`,
      `Platforms are ${Object.keys(EMITTERS).join(", ")}.`,
    );
  }
  const needed = (name: "router-lag" | "longest-request" | "teardown" | "start"): number => {
    const value = values[name];
    if (value === undefined) {
      throw new LabError(
        "LAB_USAGE",
        `--emit needs --${name}.`,
        "Give the four numbers: --router-lag, --longest-request, --teardown, --start.",
      );
    }
    return durationFlag(name, value);
  };
  const port = Number(values.port ?? 8080);
  if (!Number.isInteger(port) || port < 1 || port > 65_534) {
    throw new LabError(
      "LAB_USAGE",
      `--port ${values.port ?? ""} is not a port.`,
      "Give a number from 1 to 65534.",
    );
  }
  const name = values.name ?? "app";
  if (!/^[a-z]([a-z0-9-]{0,40}[a-z0-9])?$/.test(name)) {
    throw new LabError(
      "LAB_USAGE",
      `--name ${name} is not a name that every platform takes.`,
      "Use small letters, digits and '-'.",
    );
  }
  return emitter.write(
    size({
      routerLagMs: needed("router-lag"),
      longestRequestMs: needed("longest-request"),
      teardownMs: needed("teardown"),
      startMs: needed("start"),
      name,
      image: values.image ?? `${name}:1`,
      port,
    }),
  );
}

function toJson(sums: readonly BudgetSum[]): string {
  const workloads = sums.map(({ workload, member, timer, items, sumMs, complete, slackMs, marginMs }) => ({
    workload: workload.name,
    at: where(workload.at),
    member: member.name,
    platform: workload.platform,
    timer: {
      name: timer.name,
      ms: Number.isFinite(timer.ms) ? timer.ms : null,
      from: originText(timer.origin),
    },
    items: items.map(({ name, ms, origin, atLeast }) => ({ name, ms, from: originText(origin), atLeast })),
    sumMs,
    complete,
    slackMs: Number.isFinite(slackMs) ? slackMs : null,
    marginMs,
  }));
  return `${JSON.stringify({ schema: "lastcall.budget/1", workloads }, null, 2)}\n`;
}
