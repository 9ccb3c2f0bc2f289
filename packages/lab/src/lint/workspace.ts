/** The files: found, read once, and told apart by name and content. Nothing is skipped in silence that was named. */

import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from "node:fs";
import path from "node:path";
import type { FileProblem } from "./model/model.ts";
import { makeSource, place, type Source } from "./source.ts";

export type FileKind =
  | "yaml"
  | "json"
  | "dockerfile"
  | "unit"
  | "drop-in"
  | "nginx"
  | "haproxy"
  | "package"
  | "pm2"
  | "supervisor"
  | "source"
  | "config";

export interface WorkFile {
  readonly kind: FileKind;
  readonly source: Source;
  /** With forward slashes; `` for the folder where the command runs. */
  readonly folder: string;
  readonly named: boolean;
}

export interface Workspace {
  readonly files: readonly WorkFile[];
  readonly problems: readonly FileProblem[];
  /** The text of any file below the working directory, read once; undefined when it is not there or not text. */
  readonly lookup: (path: string) => Source | undefined;
}

/** Configuration files are small: what is larger is something else, or generated. */
export const MAX_BYTES = 5_000_000;
const MAX_SOURCE_BYTES = 400_000;
const SKIPPED = new Set(
  "node_modules .git dist coverage vendor .terraform .next .venv __pycache__ .lastcall target".split(" "),
);

/** Standard input, where a path is asked for: `helm template . | lastcall lint -`. */
export const STDIN = "-";

export function openWorkspace(cwd: string, paths: readonly string[], ignore: readonly string[]): Workspace {
  const files: WorkFile[] = [];
  const problems: FileProblem[] = [];
  const cache = new Map<string, Source | undefined>();
  const patterns = ignore.map(globPattern);
  const given = paths.map((one) => slashed(path.relative(cwd, path.resolve(cwd, one))));
  /** Who names a path that a pattern leaves out wants it read: the pattern then holds for nothing. */
  const ignored = patterns.filter((pattern) => !given.some((relative) => pattern.test(relative)));
  const seen = new Set<string>();

  const lookup = (relative: string): Source | undefined => {
    if (!cache.has(relative)) {
      cache.set(relative, readText(path.resolve(cwd, relative), relative));
    }
    return cache.get(relative);
  };

  const add = (relative: string, named: boolean): void => {
    if (seen.has(relative) || ignored.some((pattern) => pattern.test(relative))) {
      return;
    }
    seen.add(relative);
    const guess = kindByName(relative);
    if (guess === undefined && !named) {
      return;
    }
    const read = tryRead(path.resolve(cwd, relative), relative, guess, named);
    if ("problem" in read) {
      if (read.problem !== undefined) {
        problems.push(read.problem);
      }
      return;
    }
    cache.set(relative, read.source);
    const kind = kindOf(relative, guess, read.source.text);
    if (kind !== undefined) {
      files.push({ kind, source: read.source, folder: folderOf(relative), named });
    } else if (named) {
      const message = "Not a kind of file that lastcall reads.";
      problems.push({ rule: "file/not-recognised", message, at: place(read.source, 0, 0) });
    }
  };

  /** Links to files are read after the files: what is there under its own name is not read twice. Links to folders are not followed. */
  const links: string[] = [];
  const addLinks = (): void => {
    const own = new Set(files.map(({ source }) => realPath(path.resolve(cwd, source.path))));
    for (const relative of links) {
      const target = realPath(path.resolve(cwd, relative));
      if (target !== undefined && !own.has(target) && statSync(target).isFile()) {
        own.add(target);
        add(relative, false);
      }
    }
  };

  const walk = (relative: string): void => {
    let names: readonly {
      name: string;
      isDirectory(): boolean;
      isFile(): boolean;
      isSymbolicLink(): boolean;
    }[];
    try {
      names = readdirSync(path.resolve(cwd, relative), { withFileTypes: true });
    } catch (error) {
      problems.push(unreadable(relative, error));
      return;
    }
    for (const entry of names.toSorted((left, right) => (left.name < right.name ? -1 : 1))) {
      const below = relative === "" ? entry.name : `${relative}/${entry.name}`;
      if (entry.isDirectory()) {
        if (!SKIPPED.has(entry.name) && !ignored.some((pattern) => pattern.test(below))) {
          walk(below);
        }
      } else if (entry.isFile()) {
        add(below, false);
      } else if (entry.isSymbolicLink()) {
        links.push(below);
      }
    }
  };

  for (const relative of given) {
    const absolute = path.resolve(cwd, relative);
    if (relative === STDIN && !existsSync(absolute)) {
      add(relative, true);
    } else if (!existsSync(absolute)) {
      problems.push(unreadable(relative, new Error("There is no such file or folder.")));
    } else if (statSync(absolute).isDirectory()) {
      walk(relative);
    } else {
      add(relative, true);
    }
  }
  addLinks();
  return { files, problems, lookup };
}

/** Undefined for a link that leads nowhere, or round in a circle. */
function realPath(absolute: string): string | undefined {
  try {
    return realpathSync(absolute);
  } catch {
    return undefined;
  }
}

function slashed(relative: string): string {
  return relative.split(path.sep).join("/");
}

function folderOf(relative: string): string {
  const slash = relative.lastIndexOf("/");
  return slash === -1 ? "" : relative.slice(0, slash);
}

function readText(absolute: string, relative: string): Source | undefined {
  try {
    if (!statSync(absolute).isFile() || statSync(absolute).size > MAX_BYTES) {
      return undefined;
    }
    const text = readFileSync(absolute, "utf8");
    return text.includes("\u0000") ? undefined : makeSource(relative, text);
  } catch {
    // Asked for by a reference in another file: that it is not there is an answer.
    return undefined;
  }
}

function tryRead(
  absolute: string,
  relative: string,
  guess: FileKind | "sniff" | undefined,
  named: boolean,
): { source: Source } | { problem: FileProblem | undefined } {
  const input = relative === STDIN && !existsSync(absolute);
  try {
    const size = input ? 0 : statSync(absolute).size;
    if (guess === "source" && size > MAX_SOURCE_BYTES && !named) {
      return { problem: undefined };
    }
    if (size > MAX_BYTES) {
      const message = `The file has ${Math.round(size / 1e6)} MB; lastcall reads up to ${MAX_BYTES / 1e6} MB. It was not checked.`;
      return { problem: { rule: "file/too-large", message, at: place(makeSource(relative, ""), 0, 0) } };
    }
    const text = readFileSync(input ? 0 : absolute, "utf8");
    if (text.includes("\u0000")) {
      const sniffed = guess === undefined || guess === "sniff" || guess === "source";
      return sniffed && !named
        ? { problem: undefined }
        : {
            problem: {
              rule: "file/unreadable",
              message: "The file is binary.",
              at: place(makeSource(relative, ""), 0, 0),
            },
          };
    }
    return { source: makeSource(relative, text) };
  } catch (error) {
    return { problem: unreadable(relative, error) };
  }
}

function unreadable(relative: string, error: unknown): FileProblem {
  const message = error instanceof Error ? error.message : String(error);
  return {
    rule: "file/unreadable",
    message,
    at: place(makeSource(relative === "" ? "." : relative, ""), 0, 0),
  };
}

function kindByName(relative: string): FileKind | "sniff" | undefined {
  const name = relative.slice(relative.lastIndexOf("/") + 1);
  if (
    /^(Dockerfile|Containerfile)(\.[\w.-]+)?$|\.(Dockerfile|dockerfile|containerfile)$/.test(name) &&
    !/\.(dockerignore|gz|md|txt|html|j2|tmpl|tpl|template|erb)$/.test(name)
  ) {
    return "dockerfile";
  }
  if (name === "package.json") {
    return "package";
  }
  if (name === "lastcall.config.json") {
    return "config";
  }
  if (/^ecosystem\.(config\.)?(c?js|json|mjs)$|^(pm2|process)\.json$/.test(name)) {
    return "pm2";
  }
  if (name.endsWith(".service")) {
    return "unit";
  }
  if (/\.service\.d\/[^/]+\.conf$/.test(relative)) {
    return "drop-in";
  }
  if (/\.ya?ml$/.test(name)) {
    return "yaml";
  }
  if (name.endsWith(".json")) {
    return /^(package-lock|tsconfig.*|composer|.*\.schema)\.json$/.test(name) ? undefined : "json";
  }
  if (/\.(conf|cfg|ini|nginx)$/.test(name) || /\/sites-(enabled|available)\//.test(relative)) {
    return "sniff";
  }
  return /\.[cm]?[jt]s$/.test(name) && !/\.(d|test|spec|min)\.[cm]?[jt]s$/.test(name) ? "source" : undefined;
}

function kindOf(relative: string, guess: FileKind | "sniff" | undefined, text: string): FileKind | undefined {
  if (guess === "json") {
    return /"containerDefinitions"|"TaskGroups"|"apiVersion"|"apps"/.test(text) ? guess : undefined;
  }
  if (guess === "unit") {
    return /^\s*\[(Service|Unit)\]/m.test(text) ? guess : undefined;
  }
  if (guess !== "sniff" && guess !== undefined) {
    return guess;
  }
  if (/^\s*\[(supervisord|program:[^\]]+)\]/m.test(text)) {
    return "supervisor";
  }
  if (
    /haproxy[^/]*\.cfg$/.test(relative) ||
    (/^(frontend|backend|listen|defaults)\b/m.test(text) && /^\s+(server|bind|mode|timeout)\b/m.test(text))
  ) {
    return "haproxy";
  }
  if (/^\s*(upstream\s+\S+|server|events|http|location\s+\S.*)\s*\{/m.test(text)) {
    return "nginx";
  }
  if (/^\s*\[Service\]/m.test(text)) {
    return "unit";
  }
  if (/^\s*apiVersion:/m.test(text) || /^services:/m.test(text)) {
    return "yaml";
  }
  return /^FROM\s+\S+/im.test(text) && /^(CMD|ENTRYPOINT|RUN|COPY)\s/im.test(text) ? "dockerfile" : undefined;
}

/** `*` within a folder, `**` across folders, `?` one character; a folder's name covers what is below it. */
export function globPattern(glob: string): RegExp {
  const escaped = glob
    .replace(/\/$/, "")
    .replaceAll(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
    .replaceAll("**/", "\u0001")
    .replaceAll("**", "\u0002")
    .replaceAll("*", "[^/]*")
    .replaceAll("?", "[^/]")
    .replaceAll("\u0001", "(?:.*/)?")
    .replaceAll("\u0002", ".*");
  return new RegExp(`^${escaped}(?:/.*)?$`);
}
