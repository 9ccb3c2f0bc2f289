// The load tools that the engine is measured against: where each is found, how it is asked for one run against a URL, and how
// its report is read. A tool is taken from LASTCALL_BENCH_NAME, else from tools/load (scripts/load-tools.mjs fills it), else from PATH.
import { spawnSync } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { fileURLToPath } from "node:url";
import path from "node:path";
import { quantile } from "./stats.mjs";

const FOLDER = fileURLToPath(new URL("../tools/load/", import.meta.url));
/** As many as each of them is given where it wants a number: enough for 20,000 a second at 3 ms each. */
const CONNECTIONS = 64;

/**
 * What a run is asked for: `url`, `rate` a second (of those that take one), `seconds`, and `folder` for files of its own.
 * What is read: how many whole answers came, how many requests did not get one, over how many seconds, and the 99th percentile of the time to an answer.
 */
export const TOOLS = [
  {
    name: "vegeta",
    loop: "open",
    keeps: "each request's start, latency, status, bytes and error, in a file; no stages",
    words: ({ bin, url, rate, seconds, folder }) => [
      "sh",
      "-c",
      'echo "GET $1" | "$0" attack -rate "$2" -duration "$3" -output "$4"',
      bin,
      url,
      String(rate),
      `${seconds}s`,
      path.join(folder, "vegeta.bin"),
    ],
    read: (_out, { bin, folder }) => {
      const words = ["report", "-type", "json", path.join(folder, "vegeta.bin")];
      const seen = JSON.parse(spawnSync(bin, words, { encoding: "utf8" }).stdout);
      const good = Math.round(seen.success * seen.requests);
      return {
        answered: good,
        failed: seen.requests - good,
        seconds: (seen.duration + seen.wait) / 1e9,
        p99Ms: seen.latencies["99th"] / 1e6,
      };
    },
  },
  {
    name: "oha",
    loop: "a rate for 64 connections",
    keeps: "each request's start, connect, first byte and end, in memory; prints a histogram",
    words: ({ bin, url, rate, seconds }) => [
      bin,
      ...`--no-tui --output-format json -z ${seconds}s -c ${CONNECTIONS} -q ${rate} --latency-correction`.split(
        " ",
      ),
      url,
    ],
    read: (out) => {
      const seen = JSON.parse(out);
      const count = (all) => Object.values(all ?? {}).reduce((sum, n) => sum + n, 0);
      return {
        answered: seen.statusCodeDistribution["200"] ?? 0,
        // What was in flight when the time was over is no failure.
        failed: count(seen.errorDistribution) - (seen.errorDistribution["aborted due to deadline"] ?? 0),
        seconds: seen.summary.total,
        p99Ms: seen.latencyPercentiles.p99 * 1000,
      };
    },
  },
  {
    name: "autocannon",
    loop: "a rate for 64 connections",
    keeps: "a histogram",
    words: ({ bin, url, rate, seconds }) => [
      bin,
      ...`--json --no-progress -c ${CONNECTIONS} -d ${seconds} -R ${rate}`.split(" "),
      url,
    ],
    read: (out) => {
      const seen = JSON.parse(out);
      return {
        answered: seen["2xx"],
        failed: seen.errors + seen.non2xx,
        seconds: seen.duration,
        p99Ms: seen.latency.p99,
      };
    },
  },
  {
    name: "wrk",
    loop: "closed",
    keeps: "a histogram",
    words: ({ bin, url, seconds }) => [
      bin,
      ...`-t 1 -c ${CONNECTIONS} -d ${seconds}s --latency`.split(" "),
      url,
    ],
    read: (out) => {
      const [, requests, time, unit] = /(\d+) requests in ([\d.]+)(m?s)/.exec(out) ?? [];
      const [, p99, p99Unit] = /99%\s+([\d.]+)(us|ms|s)/.exec(out) ?? [];
      const [, ...errors] = /connect (\d+), read (\d+), write (\d+), timeout (\d+)/.exec(out) ?? [];
      const [, others = "0"] = /Non-2xx or 3xx responses: (\d+)/.exec(out) ?? [];
      return {
        answered: Number(requests) - Number(others),
        failed: [...errors, others].reduce((sum, n) => sum + Number(n), 0),
        seconds: Number(time) / (unit === "ms" ? 1000 : 1),
        p99Ms: Number(p99) * { us: 0.001, ms: 1, s: 1000 }[p99Unit],
      };
    },
  },
  {
    name: "hey",
    loop: "closed",
    keeps: "each request's stages and status, as CSV",
    words: ({ bin, url, seconds }) => [
      bin,
      ...`-z ${seconds}s -c ${CONNECTIONS} -cpus 1 -o csv`.split(" "),
      url,
    ],
    read: (out, { seconds }) => {
      // response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset
      const rows = out
        .split("\n")
        .slice(1)
        .filter((line) => line !== "")
        .map((line) => line.split(","));
      const good = rows.filter(([, , , , , , status]) => status === "200");
      return {
        answered: good.length,
        failed: rows.length - good.length,
        seconds,
        p99Ms:
          quantile(
            good.map(([took]) => Number(took)),
            0.99,
          ) * 1000,
      };
    },
  },
];

function runs(file) {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The program's path, or null where it is not to be found. */
export function findTool(name, env = process.env) {
  const given = env[`LASTCALL_BENCH_${name.toUpperCase()}`];
  const places = [
    path.join(FOLDER, "bin"),
    path.join(FOLDER, "node_modules", ".bin"),
    ...(env.PATH ?? "").split(path.delimiter),
  ];
  const candidates = given === undefined ? places.map((place) => path.join(place, name)) : [given];
  return candidates.find(runs) ?? null;
}
