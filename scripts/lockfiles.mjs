// A lock file must not name download hosts: npm writes them unless .npmrc says otherwise.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";

const files = execFileSync("git", ["ls-files", "*package-lock.json"], { encoding: "utf8" })
  .split("\n")
  .filter(Boolean);
const wrong = files.filter((file) => /"resolved": *"https?:/.test(readFileSync(file, "utf8")));
for (const file of wrong) {
  console.error(
    `${file} names a download host: set omit-lockfile-registry-resolved=true in .npmrc and make it again.`,
  );
}
process.exit(wrong.length === 0 ? 0 : 1);
