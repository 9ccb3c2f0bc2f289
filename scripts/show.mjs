// What the shows have in common: one line per case (case, runtime version, what was seen, kept or broken), a client for one
// request, and what is missing on this machine.
import { spawnSync } from "node:child_process";
import http from "node:http";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** A table whose rows are printed as they come. `end` gives the exit code. */
export class Show {
  #names;
  #problems = [];
  #rows = 0;

  constructor(names) {
    this.#names = Math.max(...names.map((name) => name.length));
    console.log(`${"case".padEnd(this.#names)}  runtime        kept or broken  what was seen`);
  }

  /** `wrong` says what a row should have shown and did not. */
  row(name, version, seen, wrong) {
    this.#rows += 1;
    const verdict = wrong.length === 0 ? "kept" : "BROKEN";
    console.log(`${name.padEnd(this.#names)}  ${version.padEnd(13)}  ${verdict.padEnd(14)}  ${seen}`);
    this.#problems.push(...wrong.map((text) => `${name}, ${version}: ${text}`));
  }

  end() {
    this.#problems.forEach((text) => console.log(`  ${text}`));
    const broken = this.#problems.length;
    console.log(
      broken === 0 ? `${this.#rows} rows, every one kept` : `${broken} broken in ${this.#rows} rows`,
    );
    return broken === 0 ? 0 : 1;
  }
}

/** Ends this program with what to install, where something is missing. */
export function need(programs, packages) {
  const missing = programs.filter((name) => spawnSync("which", [name]).status !== 0);
  if (missing.length > 0) {
    console.error(
      `missing: ${missing.join(", ")}. On Debian: apt-get install --no-install-recommends ${packages}`,
    );
    process.exit(1);
  }
}

export function versionOf(node) {
  return spawnSync(node, ["-v"], { encoding: "utf8" }).stdout.trim();
}

export function freePort() {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const TIMEOUT_MS = 20_000;

/** The status of one request on a connection of its own, `cut`, `timeout`, or the code of the error. */
export function ask(port, path) {
  return new Promise((resolve) => {
    const request = http.get({ host: "127.0.0.1", port, path, agent: false }, (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode));
      response.once("error", () => resolve("cut"));
    });
    request.once("error", (error) => resolve(error.code));
    // A connection that was handed to somebody who died with it may never hear of that.
    request.setTimeout(TIMEOUT_MS, () => {
      resolve("timeout");
      request.destroy();
    });
  });
}

/** Resolves when `look` gives something; throws when it does not within `ms`. */
export async function until(what, look, ms = 20_000) {
  const giveUpAt = performance.now() + ms;
  for (;;) {
    const seen = await look();
    if (seen) return seen;
    if (performance.now() > giveUpAt) throw new Error(`waited ${ms} ms for ${what}`);
    await delay(25);
  }
}

export const answers = (port) =>
  until(`an answer on port ${port}`, async () => (await ask(port, "/")) === 200);

/** The records in what a service wrote. */
export function recordsIn(text) {
  return text
    .split("\n")
    .map((line) => line.slice(Math.max(0, line.indexOf('{"schema":"lastcall.record/'))))
    .filter((line) => line.startsWith('{"schema":"lastcall.record/'))
    .map((line) => JSON.parse(line));
}
