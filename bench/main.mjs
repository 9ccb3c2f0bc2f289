// `npm run bench`: every benchmark, or those named: cost, memory, exit, crowd, stuck, protocols, sockets, streams, reconnects, verdict, start, report, engine, pipeline. With --write the results become
// bench/RESULTS.md. README.md tells the method.
import { writeFileSync } from "node:fs";
import os from "node:os";
import { memoryPerConnection, overheadPerRequest } from "./cost.mjs";
import { memoryPerWebSocket, overheadPerStream, streamsLeave, webSocketsComeBack } from "./protocols.mjs";
import { engineAlone } from "./engine.mjs";
import { fullPipeline } from "./pipeline.mjs";
import { startUpCost } from "./start-up.mjs";
import { crowdLeaves, exitAfterLastResponse, stuckAreCut } from "./leaving.mjs";
import { reportOverAMillion } from "./report.mjs";
import { verdictOverAMillion } from "./verdict.mjs";

const BENCHMARKS = {
  cost: overheadPerRequest,
  memory: memoryPerConnection,
  exit: exitAfterLastResponse,
  crowd: crowdLeaves,
  stuck: stuckAreCut,
  verdict: verdictOverAMillion,
  report: reportOverAMillion,
  protocols: overheadPerStream,
  sockets: memoryPerWebSocket,
  streams: streamsLeave,
  reconnects: webSocketsComeBack,
  start: startUpCost,
  engine: engineAlone,
  pipeline: fullPipeline,
};
const args = process.argv.slice(2);
const named = args.filter((arg) => !arg.startsWith("--"));
const unknown = [
  ...named.filter((name) => !(name in BENCHMARKS)),
  ...args.filter((arg) => /^--(?!write$)/.test(arg)),
];
if (unknown.length > 0) {
  console.error(
    `bench: ${unknown.join(", ")}: choose from ${Object.keys(BENCHMARKS).join(", ")} and --write.`,
  );
  process.exit(2);
}

const cpu = os.cpus()[0]?.model ?? "unknown";
const parts = [
  "# Results",
  `${new Date().toISOString().slice(0, 10)}; Node ${process.versions.node}; ${os.cpus().length} x ${cpu}; ${os.type()} ${os.release()}; load before the run ${os.loadavg()[0].toFixed(1)}. Written by \`npm run bench -- ${args.join(" ")}\`; README.md tells the method.`,
];
if (os.loadavg()[0] > os.cpus().length) {
  parts.push(
    "The machine was busy with other work. Times that pass are stretched by as much as the controls show; what is computed is not.",
  );
}
console.log(parts.join("\n\n"));
let missed = 0;
for (const name of named.length > 0 ? named : Object.keys(BENCHMARKS)) {
  const { title, target, method, pass, table, verdict = pass ? "Met" : "Missed" } = await BENCHMARKS[name]();
  if (!pass) missed += 1;
  const text = `## ${title}\n\n**${verdict}**: ${target}.\n\n${table}\n\n${method}`;
  parts.push(text);
  console.log(`\n${text}`);
}
if (args.includes("--write"))
  writeFileSync(new URL("RESULTS.md", import.meta.url), `${parts.join("\n\n")}\n`);
process.exitCode = missed === 0 ? 0 : 1;
