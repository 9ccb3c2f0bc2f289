/** The script of a page, from where the build puts it: beside the compiled sources, dist/browser. */

import { readFileSync } from "node:fs";

export function pageScript(): string {
  return readFileSync(new URL("../../browser/page.js", import.meta.url), "utf8");
}
