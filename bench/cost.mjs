// (a) What the library costs while nothing stops: nanoseconds a request, bytes an idle connection.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startCrowd, startServer } from "./processes.mjs";
import { median, quantile, table } from "./stats.mjs";

const ROUNDS = 7;
const CONNECTIONS = 5000;

export async function overheadPerRequest() {
  const rows = [];
  for (const boundary of ["response", "handler"]) {
    const differences = { "bare again (control)": [], lastcall: [], "lastcall/auto": [] };
    const means = { "bare again (control)": [], lastcall: [], "lastcall/auto": [] };
    const bare = [];
    for (let round = 1; round <= ROUNDS; round += 1) {
      const file = fileURLToPath(new URL("./overhead.mjs", import.meta.url));
      const done = spawnSync(process.execPath, [file, boundary, String(round)], { encoding: "utf8" });
      if (done.status !== 0) throw new Error(done.stderr);
      const summary = JSON.parse(done.stdout);
      bare.push(summary.bare.p10);
      for (const name of Object.keys(differences)) {
        differences[name].push(summary[name].p10 - summary.bare.p10);
        means[name].push(summary[name].mean - summary.bare.mean);
      }
    }
    for (const [name, ns] of Object.entries(differences)) {
      rows.push({
        boundary,
        variant: name,
        "bare, p10 ns": Math.round(median(bare)),
        "+ns at p10, median of rounds": Math.round(median(ns)),
        "least to most": `${Math.round(quantile(ns, 0))} to ${Math.round(quantile(ns, 1))}`,
        "+ns of the means, median": Math.round(median(means[name])),
      });
    }
  }
  const costOf = (boundary, variant = "lastcall") =>
    rows.find((row) => row.boundary === boundary && row.variant === variant)["+ns at p10, median of rounds"];
  const autoMore = costOf("response", "lastcall/auto") - costOf("response");
  return {
    title: "Overhead a request, in process",
    target: "at most 400 ns over a bare listener; auto mode within 100 ns of that",
    method: `${ROUNDS} processes for each boundary; in each, 250 batches of 200 requests a variant, shuffled; one handler, one synthetic connection a variant. The p10 of the batches leaves out garbage collection, the means have it.`,
    // Waiting for the handler's promise is asked for by the app, and costs a promise.
    pass: costOf("response") <= 400 && autoMore <= 100,
    verdict: `Met with the default boundary: ${costOf("response") <= 400 ? "yes" : "no"}, with boundary handler: ${costOf("handler") <= 400 ? "yes" : "no"}, by auto mode (${autoMore} ns more): ${autoMore <= 100 ? "yes" : "no"}`,
    table: table(rows),
  };
}

export async function memoryPerConnection() {
  const rows = [];
  for (const kind of ["close", "close", "lastcall", "lastcall"]) {
    const server = await startServer(kind, {}, ["--expose-gc"]);
    const before = await server.memory();
    const crowd = await startCrowd(server, { idle: CONNECTIONS });
    const after = await server.memory();
    crowd.child.kill("SIGKILL");
    server.child.kill("SIGKILL");
    await server.exited;
    const each = (name) => Math.round((after[name] - before[name]) / CONNECTIONS);
    rows.push({
      server: kind === "close" ? "bare" : kind,
      "heap bytes a connection": each("heapUsed"),
      "resident bytes a connection": each("rss"),
    });
  }
  const heap = (kind) =>
    Math.min(...rows.filter((row) => row.server === kind).map((row) => row["heap bytes a connection"]));
  const more = heap("lastcall") - heap("bare");
  return {
    title: "Memory of an idle connection",
    target: "at most 1,024 bytes over a bare server",
    method: `${CONNECTIONS} connections that have had one answer each; heap after two full collections; every server twice. lastcall over bare: ${more} bytes.`,
    pass: more <= 1024,
    table: table(rows),
  };
}
