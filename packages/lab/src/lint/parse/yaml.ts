/** YAML and JSON to trees, through the `yaml` package. Aliases share one converted node, so that they cannot explode. */

import { type Document, isAlias, isMap, isScalar, isSeq, parseAllDocuments } from "yaml";
import { type Place, type Source, place } from "../source.ts";
import type { Entry, Scalar, Tree } from "./tree.ts";

export interface YamlProblem {
  readonly message: string;
  readonly at: Place;
}

export interface YamlFile {
  readonly documents: readonly Tree[];
  readonly problems: readonly YamlProblem[];
}

export function readYaml(source: Source): YamlFile {
  const read = readText(source, source.text);
  if (!read.unclosed) {
    return read;
  }
  const again = readText(source, joinQuoted(source.text));
  return again.problems.length === 0 ? again : read;
}

/** A quoted text that begins on this line: its indent, and the quote last. */
const OPENS = /^([ ]*)(?:- +)*(?:[^\s'"#][^'"#\n]*?:[ ]+)?['"]/;

/**
 * Go's YAML reader, and so Kubernetes, takes a quoted text whose further lines are not indented enough, which YAML 1.2 forbids.
 * Line ends inside such a text become blanks: they mean the same there, and every offset stays.
 */
function joinQuoted(text: string): string {
  const parts: string[] = [];
  let at = 0;
  while (at < text.length) {
    const stop = text.indexOf("\n", at);
    const end = stop === -1 ? text.length : stop + 1;
    const open = OPENS.exec(text.slice(at, end));
    const next = /^[ ]*/.exec(text.slice(end, end + 200))?.[0].length ?? 0;
    const close =
      open === null || next > (open[1] ?? "").length ? -1 : closingQuote(text, at + open[0].length - 1);
    if (close >= end) {
      parts.push(text.slice(at, close).replaceAll(/[\r\n]/g, " "));
      at = close;
    } else {
      parts.push(text.slice(at, end));
      at = end;
    }
  }
  return parts.join("");
}

function closingQuote(text: string, from: number): number {
  const quote = text[from];
  for (let at = from + 1; at < text.length; at += 1) {
    if (quote === '"' && text[at] === "\\") {
      at += 1;
    } else if (text[at] === quote) {
      if (quote === "'" && text[at + 1] === "'") {
        at += 1;
      } else {
        return at;
      }
    }
  }
  return -1;
}

type Read = YamlFile & { readonly unclosed: boolean };

/**
 * Parses `text`, which has the offsets of the source. Document by document: the parser's own trees are large, and a bundle of
 * manifests would hold all of them at once.
 */
function readText(source: Source, text: string): Read {
  const documents: Tree[] = [];
  const problems: YamlProblem[] = [];
  let unclosed = false;
  for (const { from, to } of documentRanges(text)) {
    const read = readDocuments(source, text.slice(from, to), from);
    documents.push(...read.documents);
    problems.push(...read.problems);
    unclosed ||= read.unclosed;
  }
  return { documents, problems, unclosed };
}

/** `---` at the start of a line always begins a document; directives (`%`) stand before it and stay with it. */
function* documentRanges(text: string): Iterable<{ from: number; to: number }> {
  if (/^%/m.test(text)) {
    yield { from: 0, to: text.length };
    return;
  }
  let from = 0;
  for (const match of text.matchAll(/^---(?=\s|$)/gm)) {
    if (match.index > from) {
      yield { from, to: match.index };
    }
    from = match.index;
  }
  yield { from, to: text.length };
}

function readDocuments(source: Source, text: string, base: number): Read {
  let parsed: readonly Document.Parsed[];
  try {
    parsed = [...parseAllDocuments(text, { uniqueKeys: false, logLevel: "silent", strict: true })];
  } catch (error) {
    // The parser throws on a few inputs (a stack overflow of brackets); the document is then broken as a whole.
    const message = error instanceof Error ? error.message : String(error);
    return { documents: [], problems: [{ message, at: place(source, base, base) }], unclosed: false };
  }
  const documents: Tree[] = [];
  const problems: YamlProblem[] = [];
  let unclosed = false;
  for (const document of parsed) {
    for (const error of document.errors) {
      const at = place(source, base + error.pos[0], base + error.pos[1]);
      problems.push({ message: firstLine(error.message), at });
      unclosed ||= error.code === "MISSING_CHAR" && error.message.startsWith("Missing closing ");
    }
    if (document.contents !== null && document.errors.length === 0) {
      try {
        documents.push(new Converter(source, document, base).tree(document.contents));
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        problems.push({ message, at: place(source, base + document.range[0], base + document.range[0]) });
      }
    }
  }
  return { documents, problems, unclosed };
}

function firstLine(message: string): string {
  return (message.split("\n")[0] ?? message).replace(/ at line \d+, column \d+:?$/, "");
}

/** Converts one document; a class because it remembers what is converted and what is being converted. */
class Converter {
  readonly #source: Source;
  readonly #document: Document.Parsed;
  /** Where the document's text begins in the file. */
  readonly #base: number;
  readonly #done = new Map<unknown, Tree>();
  readonly #open = new Set<unknown>();

  constructor(source: Source, document: Document.Parsed, base: number) {
    this.#source = source;
    this.#base = base;
    this.#document = document;
  }

  tree(node: unknown): Tree {
    const known = this.#done.get(node);
    if (known !== undefined) {
      return known;
    }
    if (this.#open.has(node)) {
      throw new Error("An anchor holds itself.");
    }
    this.#open.add(node);
    const made = this.#convert(node);
    this.#open.delete(node);
    this.#done.set(node, made);
    return made;
  }

  #convert(node: unknown): Tree {
    if (isAlias(node)) {
      const target = node.resolve(this.#document);
      return target === undefined ? this.#scalar(null, node) : this.tree(target);
    }
    if (isMap(node)) {
      return { kind: "map", at: this.#place(node), entries: this.#entries(node.items) };
    }
    if (isSeq(node)) {
      return { kind: "list", at: this.#place(node), items: node.items.map((item) => this.tree(item)) };
    }
    return this.#scalar(isScalar(node) ? toScalar(node.value) : null, node);
  }

  #entries(pairs: readonly { key: unknown; value: unknown }[]): ReadonlyMap<string, Entry> {
    const own = new Map<string, Entry>();
    const merged: Tree[] = [];
    for (const { key, value } of pairs) {
      const name = isScalar(key) ? String(key.value) : "?";
      if (name === "<<") {
        const tree = this.tree(value);
        merged.push(...(tree.kind === "list" ? tree.items : [tree]));
      } else {
        // A later duplicate wins, as most readers do.
        own.set(name, {
          key: this.#place(key),
          value: value === null ? this.#scalar(null, key) : this.tree(value),
        });
      }
    }
    for (const tree of merged) {
      for (const [name, entry] of tree.kind === "map" ? tree.entries : []) {
        if (!own.has(name)) {
          own.set(name, entry);
        }
      }
    }
    return own;
  }

  #scalar(value: Scalar, node: unknown): Tree {
    return { kind: "scalar", at: this.#place(node), value };
  }

  #place(node: unknown): Place {
    const range = (node as { range?: readonly [number, number, number] | null } | null)?.range;
    return range
      ? place(this.#source, this.#base + range[0], this.#base + range[1])
      : place(this.#source, this.#base, this.#base);
  }
}

function toScalar(value: unknown): Scalar {
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : typeof value === "bigint"
      ? Number(value)
      : value === null || value === undefined
        ? null
        : JSON.stringify(value);
}
