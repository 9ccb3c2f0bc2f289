/** One tree for YAML and JSON: values with places, anchors resolved, merge keys applied. */

import type { Place } from "../source.ts";

export type Scalar = string | number | boolean | null;

export interface Entry {
  readonly key: Place;
  readonly value: Tree;
}

export type Tree =
  | { readonly kind: "map"; readonly at: Place; readonly entries: ReadonlyMap<string, Entry> }
  | { readonly kind: "list"; readonly at: Place; readonly items: readonly Tree[] }
  | { readonly kind: "scalar"; readonly at: Place; readonly value: Scalar };

/** The value below a path of keys. */
export function get(tree: Tree | undefined, ...keys: readonly string[]): Tree | undefined {
  let node = tree;
  for (const key of keys) {
    node = node?.kind === "map" ? node.entries.get(key)?.value : undefined;
  }
  return node;
}

/** Where the last key of a path stands. */
export function keyAt(tree: Tree | undefined, ...keys: readonly string[]): Place | undefined {
  const parent = get(tree, ...keys.slice(0, -1));
  const last = keys.at(-1);
  return parent?.kind === "map" && last !== undefined ? parent.entries.get(last)?.key : undefined;
}

export function items(tree: Tree | undefined): readonly Tree[] {
  return tree?.kind === "list" ? tree.items : [];
}

export function entries(tree: Tree | undefined): readonly (readonly [string, Entry])[] {
  return tree?.kind === "map" ? [...tree.entries] : [];
}

/** A scalar as text; null and absent are undefined. */
export function text(tree: Tree | undefined): string | undefined {
  return tree?.kind === "scalar" && tree.value !== null ? String(tree.value) : undefined;
}

/** A number, or a text that is one. */
export function number(tree: Tree | undefined): number | undefined {
  const value = tree?.kind === "scalar" ? tree.value : undefined;
  if (typeof value === "number") {
    return Number.isFinite(value) ? value : undefined;
  }
  return typeof value === "string" && /^-?\d+(\.\d+)?$/.test(value.trim()) ? Number(value) : undefined;
}

export function truth(tree: Tree | undefined): boolean | undefined {
  const value = tree?.kind === "scalar" ? tree.value : undefined;
  return typeof value === "boolean" ? value : value === "true" ? true : value === "false" ? false : undefined;
}

/** A map of texts, such as labels or annotations. */
export function texts(tree: Tree | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const [key, entry] of entries(tree)) {
    const value = text(entry.value);
    if (value !== undefined) {
      found.set(key, value);
    }
  }
  return found;
}
