// The lab as the engine of an attack: a rolling restart of the service behind a router, read back as the measures of judge.mjs. The
// verdict says what was lost and why; which requests a stop could have hurt is counted here, in the ledger.
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { SERVICE } from "./target.mjs";

const LASTCALL = fileURLToPath(new URL("../../packages/lab/bin/lastcall.js", import.meta.url));

/** The run could not be made, or proves nothing: a router that is not here, a machine that was too busy. */
export class NoRun extends Error {}

function lab(args, env) {
  const child = spawn(process.execPath, [LASTCALL, "rollout", ...args], {
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...process.env, ...env },
  });
  let out = "";
  let err = "";
  child.stdout.setEncoding("utf8").on("data", (part) => (out += part));
  child.stderr.setEncoding("utf8").on("data", (part) => (err += part));
  return new Promise((resolve) => {
    child.once("close", (code) => resolve({ code, out, err }));
  });
}

/**
 * `stop` and `settings` are the service's (service.mjs), `args` are flags of `lastcall rollout`, `mix` is the load where it is not a GET
 * for a POST.
 */
export async function rollout({ stop, settings = {}, args = [], mix }, folder) {
  const own = mkdtempSync(path.join(folder, `${stop}-`));
  const out = path.join(own, "run");
  const executed = path.join(own, "executed.txt");
  const load = path.join(own, "load.json");
  if (mix !== undefined) writeFileSync(load, JSON.stringify({ mix }));
  const {
    code,
    out: text,
    err,
  } = await lab(
    [
      "--scenario=stop",
      "--grace=8s",
      ...(mix === undefined ? ["--get=/work?id={id}", "--post=/orders?id={id}"] : [`--load=${load}`]),
      ...(mix === undefined
        ? [`--executed=${executed}`]
        : ["--post=/orders?id={id}", `--executed=${executed}`]),
      "--attempts=3",
      `--out=${out}`,
      "--json",
      ...args,
      "--",
      process.execPath,
      SERVICE,
    ],
    { STOP: stop, EXECUTED: executed, ...settings },
  );
  if (code !== 0 && code !== 1) {
    throw new NoRun(err.trim().split("\n").slice(-2).join(" ") || `lastcall rollout ended with ${code}`);
  }
  const [row] = JSON.parse(text).rows;
  const records = readFileSync(path.join(row.folder, "ledger.ndjson"), "utf8")
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return seenIn(row.verdict, records);
}

const isBad = ({ fate, status }) => fate === "failed" || status >= 400;
/** More than one address in what the router told: it has tried again. */
const isRetried = ({ upstream }) => (upstream ?? "").split("|")[0].includes(",");

/** The measures of a run, out of its verdict and its ledger. */
export function seenIn(verdict, records) {
  const requests = records.filter(({ kind }) => kind === "request");
  // HAProxy's answers do not tell that it has tried again; its log does.
  const retried = new Set(
    records.filter(({ kind, line }) => kind === "router-request" && line?.retries > 0).map(({ id }) => id),
  );
  const spans = verdict.restarts.map(({ copy, signalMs, exitMs, removedMs }) => ({
    copy,
    from: signalMs,
    to: Math.max(exitMs ?? signalMs, removedMs ?? signalMs),
    removedMs,
  }));
  const exposed = requests.filter((one) =>
    spans.some(
      ({ copy, from, to }) =>
        one.endedMs > from &&
        one.dispatchedMs < to &&
        (one.copy === copy || isBad(one) || isRetried(one) || retried.has(one.id)),
    ),
  );
  // From the removal on, until the next copy is told to stop.
  const afterRemoval = requests.filter(
    (one) =>
      isBad(one) &&
      spans.some(
        ({ removedMs }, n) =>
          removedMs !== null && one.dispatchedMs > removedMs && !(one.dispatchedMs > spans[n + 1]?.from),
      ),
  );
  const kinds = verdict.kinds.filter(({ count }) => count > 0);
  const byService = kinds.filter(({ chargedTo }) => chargedTo === "service");
  const { byHarm, byAnswer, byCharge } = verdict.requests;
  const lost = byHarm.lost + byHarm.truncated - byCharge.router;
  return {
    exposed: exposed.length,
    lost,
    lostExecuted: verdict.store.inDoubt.length,
    executedTwice: Math.max(verdict.store.duplicated.length, verdict.witness?.executedTwice.length ?? 0),
    // A whole answer by its framing, and not the one that its digest promises.
    truncated: byAnswer["body DIGEST"] ?? 0,
    more: {
      "hidden by the router's retry": byHarm.masked,
      "of other kinds than K01 and K16": byService
        .filter(({ id }) => id !== "K01" && id !== "K16")
        .reduce((sum, { count }) => sum + count, 0),
      "lost, and no closing race (K03)": lost - (kinds.find(({ id }) => id === "K03")?.count ?? 0),
      "after the removal": afterRemoval.length,
      "acknowledged and not stored": verdict.store.unstored.length,
      "dropped by the router itself": byCharge.router,
    },
    kinds: Object.fromEntries(kinds.map(({ id, slug, count }) => [`${id} ${slug}`, count])),
    answers: byAnswer,
    router: verdict.run.router,
  };
}
