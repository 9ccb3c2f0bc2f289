// A few of the services with planted faults (`npm run faults` has them all): the lab names what is planted, and nothing else.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, test } from "node:test";
import { fileURLToPath } from "node:url";
import type { Verdict } from "../../src/verdict/verdict.ts";
import { makeFolder } from "../folder.ts";

const LASTCALL = fileURLToPath(new URL("../../../bin/lastcall.js", import.meta.url));
const FAULTS = fileURLToPath(new URL("../../../../../fixtures/faults/", import.meta.url));
const folder = makeFolder("faults");

interface Fault {
  readonly service: string;
  readonly names: readonly string[];
  readonly run?: readonly string[];
}

const all = JSON.parse(readFileSync(path.join(FAULTS, "faults.json"), "utf8")) as readonly Fault[];

function rollout({
  service,
  run,
}: Fault): Promise<{ readonly code: number; readonly verdict: Verdict | null }> {
  const out = path.join(folder, service.replace("/", "-"));
  const args = [
    "rollout",
    "--scenario=stop",
    "--router=embedded",
    "--rate=30",
    "--propagation=400ms",
    "--grace=4s",
    "--get=/work?id={id}",
    "--post=/orders?id={id}",
    `--executed=${out}.executed`,
    `--out=${out}`,
    "--json",
    "--",
    ...(run ?? ["node", `${service}.mjs`]),
  ];
  const env = { ...process.env, EXECUTED: `${out}.executed` };
  return new Promise((resolve) => {
    execFile(process.execPath, [LASTCALL, ...args], { cwd: FAULTS, env }, (error, text) => {
      const rows =
        text === "" ? [] : (JSON.parse(text) as { readonly rows: { readonly verdict: Verdict }[] }).rows;
      resolve({ code: Number(error?.code ?? 0), verdict: rows[0]?.verdict ?? null });
    });
  });
}

describe("planted faults are named", { concurrency: 2 }, () => {
  for (const name of [
    "node/healthy",
    "node/closes-first",
    "node/wrapper",
    "node/ignores-signal",
    "node/two-faults",
  ]) {
    const fault = all.find(({ service }) => service === name);
    assert.ok(fault !== undefined);
    const { names } = fault;
    test(`${name}: ${names.length === 0 ? "nothing" : names.join(" and ")}`, async () => {
      const { code, verdict } = await rollout(fault);
      assert.ok(verdict !== null);
      if (verdict.outcome === "invalid") {
        // A machine that is too busy proves nothing, and says so.
        assert.equal(code, 4);
        assert.match(verdict.headline, /dispatch lag|too busy/);
        return;
      }
      assert.deepEqual(verdict.kinds.map(({ id }) => id).toSorted(), names.toSorted(), verdict.headline);
      assert.equal(code, names.length === 0 ? 0 : 1);
    });
  }
});
