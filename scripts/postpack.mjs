// Runs in a package after it was packed: what prepack has linked is many modules again.
import { existsSync, renameSync } from "node:fs";

if (existsSync("dist/auto.unlinked.js")) {
  renameSync("dist/auto.unlinked.js", "dist/src/auto.js");
}
