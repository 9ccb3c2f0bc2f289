// Runs in packages/lab before it is packed: `lastcall lint --explain` reads the rules' pages from the package, and editors the
// schema of lastcall.config.json.
import { cpSync, rmSync } from "node:fs";

rmSync("docs", { recursive: true, force: true });
cpSync("../../docs/rules", "docs/rules", { recursive: true });
cpSync("../../docs/lastcall.config.schema.json", "docs/lastcall.config.schema.json");
