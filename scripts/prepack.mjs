// Runs in a package before it is packed: tsc keeps the output of a deleted source, so what is packed is built afresh.
import { spawnSync } from "node:child_process";
import { rmSync } from "node:fs";

rmSync("dist/src", { recursive: true, force: true });
rmSync("dist/src.tsbuildinfo", { force: true });
const built = spawnSync("npx", ["--no-install", "tsc", "-b", "."], { stdio: "inherit" });
process.exit(built.status ?? 1);
