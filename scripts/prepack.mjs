// Runs in a package before it is packed: tsc keeps the output of a deleted source, so what is packed is built afresh. Auto
// mode, which people wait for at every start, is packed as one file; postpack puts back what the tests here look at.
import { spawnSync } from "node:child_process";
import { existsSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { link } from "./link.mjs";

rmSync("dist/src", { recursive: true, force: true });
rmSync("dist/src.tsbuildinfo", { force: true });
const built = spawnSync("npx", ["--no-install", "tsc", "-b", "."], { stdio: "inherit" });
if (built.status !== 0) process.exit(built.status ?? 1);
const auto = path.resolve("dist/src/auto.js");
if (existsSync(auto)) {
  const linked = link(auto);
  renameSync(auto, path.resolve("dist/auto.unlinked.js"));
  rmSync(`${auto}.map`, { force: true });
  writeFileSync(auto, linked);
}
