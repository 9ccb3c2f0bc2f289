// The documents name every error code, and no code that does not exist.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import path from "node:path";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));

test("docs/errors.md has one heading for each error code of the library and of the lab", async () => {
  const { ERROR_CODES } = await import(path.join(root, "packages/lastcall/dist/src/errors.js"));
  const { LAB_CODES } = await import(path.join(root, "packages/lab/dist/src/errors.js"));
  const page = readFileSync(path.join(root, "docs/errors.md"), "utf8");
  const headings = [...page.matchAll(/^### (\w+)$/gm)].map(([, code]) => code);
  assert.deepEqual(
    headings.toSorted(),
    [...ERROR_CODES, ...Object.keys(LAB_CODES)].toSorted((a, b) => (a < b ? -1 : 1)),
  );
});

const read = (file) => readFileSync(path.join(root, file), "utf8");
const pagesUnder = (folder) =>
  readdirSync(path.join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const file = path.join(folder, entry.name);
    if (!entry.isDirectory()) {
      return file.endsWith(".md") ? [file] : [];
    }
    const skipped =
      /^(?:node_modules|dist|test|tools|temp|\..*)$/.test(entry.name) || file === "packages/lab/docs";
    return skipped ? [] : pagesUnder(file);
  });
const PAGES = pagesUnder("");

/** As GitHub makes them: lower case, signs dropped, blanks to hyphens. */
const anchorOf = (heading) =>
  heading
    .replaceAll(/\[([^\]]*)\]\([^)]*\)/g, "$1")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .trim()
    .replaceAll(/\s/g, "-");

const withoutCode = (text) => text.replaceAll(/^```[\s\S]*?^```/gm, "").replaceAll(/`[^`\n]*`/g, "");

test("every link between the documents leads to a file and a heading that exist", () => {
  const anchors = new Map(
    PAGES.map((page) => {
      const headings = [
        ...read(page)
          .replaceAll(/^```[\s\S]*?^```/gm, "")
          .matchAll(/^#+ (.*)$/gm),
      ];
      return [page, new Set(headings.map(([, heading]) => anchorOf(heading)))];
    }),
  );
  const broken = [];
  for (const page of PAGES) {
    for (const [, link] of withoutCode(read(page)).matchAll(
      /(?:\]\(|(?:src|srcset|href)=")([^)"\s]+)[)"]/g,
    )) {
      if (/^[a-z]+:/.test(link)) {
        continue;
      }
      const [file, anchor] = link.split("#", 2);
      const target = file === "" ? page : path.normalize(path.join(path.dirname(page), file));
      if (!existsSync(path.join(root, target)) && !existsSync(path.join(root, `${target}.md`))) {
        broken.push(`${page}: ${link}`);
      } else if (anchor !== undefined && !(anchors.get(target)?.has(anchor) ?? true)) {
        broken.push(`${page}: ${link} (no such heading)`);
      }
    }
  }
  assert.deepEqual(broken, []);
});

test("every flag in a command line of the documents is one that the command's help names", () => {
  const helps = new Map();
  const helpOf = (command) => {
    if (!helps.has(command)) {
      const lab = path.join(root, "packages/lab/bin/lastcall.js");
      helps.set(command, spawnSync(process.execPath, [lab, command, "--help"], { encoding: "utf8" }).stdout);
    }
    return helps.get(command);
  };
  const unknown = [];
  for (const page of PAGES.filter((file) => file !== "CHANGELOG.md")) {
    const lines = read(page).matchAll(
      /^(?:\s{4,}|- run: *)(?:npx )?lastcall (budget|check|lab|lag|lint|prove|report|rollout)\b(.*)$/gm,
    );
    for (const [line, command, rest] of lines) {
      for (const [, flag] of rest.split(/ -- | #/, 1)[0].matchAll(/(?<=\s)(--[a-z][a-z-]*)/g)) {
        if (!helpOf(command).includes(flag)) {
          unknown.push(`${page}: ${line.trim()}: ${flag}`);
        }
      }
    }
  }
  assert.ok(helps.size >= 5, `looked at ${helps.size} commands`);
  assert.deepEqual(unknown, []);
});

test("each package carries its own README and the licence", () => {
  for (const folder of ["packages/lastcall", "packages/lab"]) {
    assert.equal(read(`${folder}/LICENSE`), read("LICENSE"));
    assert.match(
      read(`${folder}/README.md`),
      new RegExp(`^# ${JSON.parse(read(`${folder}/package.json`)).name}\n`),
    );
  }
});

test("every npm script that README and CONTRIBUTING name is there", () => {
  const { scripts } = JSON.parse(read("package.json"));
  for (const page of PAGES.filter((file) => !/^(?:examples|fixtures|bench\/)/.test(file))) {
    for (const [, name] of read(page).matchAll(/npm run ([a-z-]+)/g)) {
      assert.ok(scripts[name] !== undefined, `${page}: npm run ${name}`);
    }
  }
});
