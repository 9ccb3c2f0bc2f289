/** Compose services: `extends` and override files applied, variables filled in, strings split as Compose does. */

import { expand } from "../parse/dockerfile.ts";
import type { Argument } from "../parse/dockerfile.ts";
import { argumentOf } from "../parse/package-json.ts";
import { type Entry, type Tree, entries, get, items, keyAt, text } from "../parse/tree.ts";
import type { Place, Source } from "../source.ts";
import { wordsOfString } from "./chain.ts";
import { toArguments } from "./prestop.ts";
import type { EnvValue } from "./workload.ts";

export interface ComposeFile {
  readonly kind: "compose";
  readonly source: Source;
  readonly folder: string;
  readonly tree: Tree;
  /** From `.env` beside it. */
  readonly variables: ReadonlyMap<string, string>;
}

export interface ComposeService {
  readonly name: string;
  readonly at: Place;
  readonly tree: Tree;
  readonly file: ComposeFile;
  readonly image: string | undefined;
  /** The build context, relative to where the command runs. */
  readonly context: string | undefined;
  readonly dockerfile: string | undefined;
  readonly target: string | undefined;
  readonly command: readonly Argument[] | undefined;
  readonly entrypoint: readonly Argument[] | undefined;
  readonly environment: ReadonlyMap<string, EnvValue>;
  /** Files of the host that are mounted, relative to where the command runs. */
  readonly mounts: readonly string[];
  readonly dependsOn: readonly string[];
}

/** Joins a folder and a relative path, both with forward slashes. */
export function join(folder: string, path: string): string {
  const parts = path.startsWith("/") ? [] : folder.split("/").filter((part) => part !== "" && part !== ".");
  for (const part of path.split("/")) {
    if (part === ".." && (parts.length === 0 || parts.at(-1) === "..")) {
      parts.push("..");
    } else if (part === "..") {
      parts.pop();
    } else if (part !== "" && part !== ".") {
      parts.push(part);
    }
  }
  return (path.startsWith("/") ? "/" : "") + parts.join("/");
}

/** All services of a folder's Compose files. */
export function toServices(files: readonly ComposeFile[]): readonly ComposeService[] {
  const bases = files.filter(({ source }) => !isOverride(source.path));
  const overrides = files.filter(({ source }) => isOverride(source.path));
  const services: ComposeService[] = [];
  for (const file of [
    ...bases,
    ...overrides.filter(({ folder }) => !bases.some((base) => base.folder === folder)),
  ]) {
    for (const [name, entry] of entries(get(file.tree, "services"))) {
      let tree = withExtends(file, entry.value, files, new Set());
      for (const override of overrides) {
        const other =
          override.folder === file.folder && override !== file
            ? get(override.tree, "services", name)
            : undefined;
        tree = other === undefined ? tree : merge(tree, other);
      }
      services.push(toService(name, entry.key, tree, file));
    }
  }
  return services;
}

function isOverride(path: string): boolean {
  return /override\.ya?ml$/.test(path);
}

function withExtends(file: ComposeFile, tree: Tree, files: readonly ComposeFile[], seen: Set<Tree>): Tree {
  const extended = get(tree, "extends");
  const name = text(get(extended, "service")) ?? text(extended);
  if (name === undefined || seen.has(tree)) {
    return tree;
  }
  const path = text(get(extended, "file"));
  const from =
    path === undefined ? file : files.find(({ source }) => source.path === join(file.folder, path));
  const base = from === undefined ? undefined : get(from.tree, "services", name);
  return from === undefined || base === undefined
    ? tree
    : merge(withExtends(from, base, files, new Set([...seen, tree])), tree);
}

/** Maps are merged key by key, everything else is replaced: what Compose does for the keys we read. */
function merge(base: Tree, over: Tree): Tree {
  if (base.kind !== "map" || over.kind !== "map") {
    return over;
  }
  const merged = new Map<string, Entry>(base.entries);
  for (const [key, entry] of over.entries) {
    const below = merged.get(key);
    merged.set(key, below === undefined ? entry : { key: entry.key, value: merge(below.value, entry.value) });
  }
  return { kind: "map", at: over.at, entries: merged };
}

function toService(name: string, at: Place, tree: Tree, file: ComposeFile): ComposeService {
  const build = get(tree, "build");
  const filled = (value: string | undefined): string | undefined =>
    value === undefined ? undefined : expand(value, file.variables);
  const context = filled(
    text(build) ?? text(get(build, "context")) ?? (build?.kind === "map" ? "." : undefined),
  );
  const dependsOn = get(tree, "depends_on");
  return {
    name,
    at,
    tree,
    file,
    image: filled(text(get(tree, "image"))),
    context: context === undefined ? undefined : join(file.folder, context),
    dockerfile: filled(text(get(build, "dockerfile"))),
    target: text(get(build, "target")),
    command: words(get(tree, "command"), file),
    entrypoint: words(get(tree, "entrypoint"), file),
    environment: environmentOf(get(tree, "environment"), file),
    mounts: items(get(tree, "volumes")).flatMap((volume) => {
      const host = filled(text(get(volume, "source")) ?? text(volume)?.split(":")[0]);
      return host !== undefined && /^[./~]/.test(host) ? [join(file.folder, host)] : [];
    }),
    dependsOn:
      dependsOn?.kind === "list"
        ? dependsOn.items.flatMap((item) => text(item) ?? [])
        : entries(dependsOn).map(([key]) => key),
  };
}

function words(tree: Tree | undefined, file: ComposeFile): readonly Argument[] | undefined {
  const value = text(tree);
  if (tree !== undefined && value !== undefined) {
    const filled = expand(value.replaceAll("$$", "\u0000"), file.variables).replaceAll("\u0000", "$");
    return wordsOfString({
      ...argumentOf(tree, value),
      text: filled,
      exact: filled === value && argumentOf(tree, value).exact,
    });
  }
  return toArguments(tree)?.map((argument) => ({
    ...argument,
    text: expand(argument.text.replaceAll("$$", "\u0000"), file.variables).replaceAll("\u0000", "$"),
  }));
}

function environmentOf(tree: Tree | undefined, file: ComposeFile): ReadonlyMap<string, EnvValue> {
  const found = new Map<string, EnvValue>();
  for (const item of items(tree)) {
    const match = /^(\w+)=(.*)$/s.exec(text(item) ?? "");
    if (match !== null) {
      found.set(match[1] ?? "", { value: expand(match[2] ?? "", file.variables), at: item.at });
    }
  }
  for (const [key, entry] of entries(tree)) {
    const value = text(entry.value);
    if (value !== undefined) {
      found.set(key, { value: expand(value, file.variables), at: keyAt(tree, key) ?? entry.value.at });
    }
  }
  return found;
}
