/** HAProxy's backends and listeners with the defaults that hold for them. */

import { type HaproxyFile, type HaproxyLine, type HaproxySection, lineOfSection } from "../parse/haproxy.ts";

/** Backends and listeners of HAProxy with their servers, and the defaults that hold for them. */
export interface Backend {
  readonly section: HaproxySection;
  readonly servers: readonly HaproxyLine[];
  readonly defaults: HaproxySection | undefined;
  /** The words of its `default-server` lines, then those of the defaults. */
  readonly common: readonly (readonly string[])[];
}

export function backends(file: HaproxyFile): readonly Backend[] {
  let defaults: HaproxySection | undefined;
  const found: Backend[] = [];
  for (const section of file.sections) {
    if (section.type === "defaults") {
      defaults = section;
    } else if (section.type === "backend" || section.type === "listen") {
      found.push({
        section,
        defaults,
        servers: section.lines.filter(({ words }) => words[0] === "server"),
        common: [...commonOf(section), ...commonOf(defaults)],
      });
    }
  }
  return found;
}

function commonOf(section: HaproxySection | undefined): readonly (readonly string[])[] {
  const lines = section?.lines.filter(({ words }) => words[0] === "default-server") ?? [];
  return lines.map(({ words }) => words).toReversed();
}

/** A line of the backend, else of its defaults. */
export function hasOption(
  { section, defaults }: Backend,
  ...words: readonly string[]
): HaproxyLine | undefined {
  return lineOfSection(section, ...words) ?? lineOfSection(defaults, ...words);
}

/** Whether a server is checked, by its own line or by `default-server`. */
export function isChecked({ common }: Backend, { words }: HaproxyLine): boolean {
  return words.includes("check") || words.includes("track") || common.some((line) => line.includes("check"));
}

/** A field of a server's own line, else of `default-server`. */
export function serverField({ common }: Backend, { words }: HaproxyLine, name: string): string | undefined {
  const line = [words, ...common].find((one) => one.includes(name));
  return line?.[line.indexOf(name) + 1];
}

/** The mode of a backend; HAProxy's own default is tcp. */
export function modeOf(backend: Backend): string {
  return hasOption(backend, "mode")?.words[1] ?? "tcp";
}
