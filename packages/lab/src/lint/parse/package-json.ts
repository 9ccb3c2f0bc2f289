/** package.json: its scripts and the package manager it pins, with places. */

import { type Source, slice } from "../source.ts";
import type { Argument } from "./dockerfile.ts";
import { type Tree, entries, get, text } from "./tree.ts";

export interface PackageJson {
  readonly kind: "package-json";
  readonly source: Source;
  readonly folder: string;
  readonly scripts: ReadonlyMap<string, Argument>;
  readonly dependencies: ReadonlySet<string>;
  readonly manager: { readonly name: string; readonly major: number } | undefined;
}

export function readPackageJson(source: Source, folder: string, tree: Tree): PackageJson {
  const scripts = new Map<string, Argument>();
  for (const [name, { value }] of entries(get(tree, "scripts"))) {
    const body = text(value);
    if (body !== undefined) {
      scripts.set(name, argumentOf(value, body));
    }
  }
  const dependencies = new Set(entries(get(tree, "dependencies")).map(([name]) => name));
  const pinned = /^(\w+)@(\d+)/.exec(text(get(tree, "packageManager")) ?? "");
  const manager = pinned === null ? undefined : { name: pinned[1] ?? "", major: Number(pinned[2]) };
  return { kind: "package-json", source, folder, scripts, dependencies, manager };
}

/** A scalar as a word of a command; `exact` when no escape stands between the file and the value. */
export function argumentOf(tree: Tree, value: string): Argument {
  const raw = slice(tree.at);
  const inner = /^(['"])([\s\S]*)\1$/.exec(raw)?.[2] ?? raw;
  return { text: value, at: tree.at, exact: inner === value };
}
