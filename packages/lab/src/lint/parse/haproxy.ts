/** HAProxy configuration: sections and lines of words, with quotes, escapes and comments. */

import { type Place, type Source, place } from "../source.ts";

export interface HaproxyLine {
  readonly words: readonly string[];
  readonly at: Place;
}

export interface HaproxySection {
  readonly type: string;
  readonly name: string;
  readonly at: Place;
  readonly lines: readonly HaproxyLine[];
}

export interface HaproxyFile {
  readonly kind: "haproxy";
  readonly source: Source;
  readonly sections: readonly HaproxySection[];
  readonly problems: readonly { readonly message: string; readonly at: Place }[];
}

const SECTIONS = new Set(
  (
    "global defaults frontend backend listen peers resolvers userlist mailers cache program http-errors ring log-forward fcgi-app " +
    "crt-store traces acme log-profile"
  ).split(" "),
);

export function readHaproxy(source: Source): HaproxyFile {
  const sections: { type: string; name: string; at: Place; lines: HaproxyLine[] }[] = [];
  const problems: { message: string; at: Place }[] = [];
  for (let number = 0; number < source.starts.length; number += 1) {
    const from = source.starts[number] ?? 0;
    const raw = source.text.slice(from, (source.starts[number + 1] ?? source.text.length + 1) - 1);
    const indent = raw.length - raw.trimStart().length;
    const words = splitLine(raw);
    const [first] = words;
    if (first === undefined) {
      continue;
    }
    const at = place(source, from + indent, from + raw.trimEnd().length);
    if (SECTIONS.has(first)) {
      sections.push({ type: first, name: words[1] ?? "", at, lines: [] });
    } else if (sections.length === 0 && !first.startsWith(".")) {
      problems.push({ message: `'${first}' stands before any section.`, at });
    } else {
      sections.at(-1)?.lines.push({ words, at });
    }
  }
  return { kind: "haproxy", source, sections, problems };
}

function splitLine(line: string): readonly string[] {
  const words: string[] = [];
  let word = "";
  let started = false;
  let quote = "";
  for (let at = 0; at < line.length; at += 1) {
    const char = line[at] ?? "";
    if (quote !== "") {
      if (char === quote) {
        quote = "";
      } else if (char === "\\" && quote === '"') {
        at += 1;
        word += line[at] ?? "";
      } else {
        word += char;
      }
    } else if (char === "'" || char === '"') {
      quote = char;
      started = true;
    } else if (char === "\\") {
      at += 1;
      word += line[at] ?? "";
      started = true;
    } else if (char === "#") {
      break;
    } else if (/\s/.test(char)) {
      if (started) {
        words.push(word);
        word = "";
        started = false;
      }
    } else {
      word += char;
      started = true;
    }
  }
  return started ? [...words, word] : words;
}

/** The first line of a section that starts with these words. */
export function lineOfSection(
  section: HaproxySection | undefined,
  ...start: readonly string[]
): HaproxyLine | undefined {
  return section?.lines.find(({ words }) => start.every((word, index) => words[index] === word));
}
