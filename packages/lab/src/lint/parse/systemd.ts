/** systemd units: sections, continuation lines, repeated and emptied keys, drop-ins in name order. */

import { type Place, type Source, place } from "../source.ts";

export interface Setting {
  readonly value: string;
  readonly at: Place;
  readonly valueAt: Place;
}

export interface Unit {
  readonly kind: "unit";
  readonly name: string;
  readonly source: Source;
  readonly at: Place;
  /** `Section.Key` to its settings in order; an empty assignment has removed those before it. */
  readonly settings: ReadonlyMap<string, readonly Setting[]>;
  readonly problems: readonly { readonly message: string; readonly at: Place }[];
}

export function readUnit(name: string, sources: readonly Source[]): Unit | undefined {
  const [first] = sources;
  if (first === undefined) {
    return undefined;
  }
  const settings = new Map<string, Setting[]>();
  const problems: { message: string; at: Place }[] = [];
  let at = place(first, 0, 0);
  for (const source of sources) {
    let section = "";
    for (const line of logicalLines(source)) {
      const heading = /^\[([^\]]+)\]\s*$/.exec(line.text);
      const pair = /^([A-Za-z][\w-]*)\s*=\s*(.*)$/s.exec(line.text);
      if (heading !== null) {
        section = heading[1] ?? "";
        if (section === "Service" && source === first) {
          at = line.at;
        }
      } else if (pair === null) {
        problems.push({ message: "Neither a section nor KEY=VALUE.", at: line.at });
      } else {
        const key = `${section}.${pair[1] ?? ""}`;
        const value = (pair[2] ?? "").trim();
        if (value === "") {
          settings.set(key, []);
        } else {
          const from = line.at.start + line.text.length - (pair[2] ?? "").length;
          const list = settings.get(key) ?? [];
          list.push({ value, at: line.at, valueAt: place(source, Math.min(from, line.at.end), line.at.end) });
          settings.set(key, list);
        }
      }
    }
  }
  return { kind: "unit", name, source: first, at, settings, problems };
}

function* logicalLines(source: Source): Iterable<{ text: string; at: Place }> {
  let start = -1;
  let text = "";
  for (let number = 0; number < source.starts.length; number += 1) {
    const from = source.starts[number] ?? 0;
    const to = (source.starts[number + 1] ?? source.text.length + 1) - 1;
    const raw = source.text.slice(from, to).replace(/\r$/, "");
    const trimmed = raw.trim();
    // Comment lines inside a continuation are left out of it.
    if (trimmed.startsWith("#") || trimmed.startsWith(";") || (trimmed === "" && start === -1)) {
      continue;
    }
    const indent = raw.length - raw.trimStart().length;
    if (start === -1) {
      start = from + indent;
      text = "";
    }
    const more = raw.endsWith("\\");
    text += start === from + indent ? raw.slice(indent) : raw;
    if (more && number < source.starts.length - 1) {
      text = `${text.slice(0, -1)} `;
    } else {
      yield { text: text.trimEnd(), at: place(source, start, from + raw.length) };
      start = -1;
    }
  }
}

/** The last setting of a key, which is the one that counts for single values. */
export function setting(unit: Unit, key: string): Setting | undefined {
  return unit.settings.get(key)?.at(-1);
}

export function settingsOf(unit: Unit, key: string): readonly Setting[] {
  return unit.settings.get(key) ?? [];
}
