// `node actions/summary.mjs FILE...`: what lastcall's commands have printed with --json, as Markdown for a pipeline's summary.
import { readFileSync } from "node:fs";
import { summaryOf } from "../packages/lab/dist/src/render/summary.js";

for (const file of process.argv.slice(2)) {
  const text = readFileSync(file, "utf8");
  // A command that could not run has printed nothing there; its own words are in the log.
  console.log(
    text.trim() === "" ? "### ❌ lastcall could not run; its words are in the step's log" : summaryOf(text),
  );
}
