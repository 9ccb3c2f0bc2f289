/** HAProxy's backends and listeners with the defaults that hold for them. */

import { type HaproxyFile, type HaproxyLine, type HaproxySection, lineOfSection } from "../parse/haproxy.ts";

/** Backends and listeners of HAProxy with their servers, and the defaults that hold for them. */
export interface Backend {
  readonly section: HaproxySection;
  readonly servers: readonly HaproxyLine[];
  readonly defaults: HaproxySection | undefined;
}

export function backends(file: HaproxyFile): readonly Backend[] {
  let defaults: HaproxySection | undefined;
  const found: Backend[] = [];
  for (const section of file.sections) {
    if (section.type === "defaults") {
      defaults = section;
    } else if (section.type === "backend" || section.type === "listen") {
      found.push({ section, defaults, servers: section.lines.filter(({ words }) => words[0] === "server") });
    }
  }
  return found;
}

/** A line of the backend, else of its defaults. */
export function hasOption(
  { section, defaults }: Backend,
  ...words: readonly string[]
): HaproxyLine | undefined {
  return lineOfSection(section, ...words) ?? lineOfSection(defaults, ...words);
}

/** Whether a server is checked, by its own line or by `default-server`. */
export function isChecked(backend: Backend, server: HaproxyLine): boolean {
  return (
    server.words.includes("check") ||
    server.words.includes("track") ||
    [backend.section, backend.defaults].some((section) =>
      section?.lines.some(({ words }) => words[0] === "default-server" && words.includes("check")),
    )
  );
}

/** Both the ordinary fields of a server line and those of `default-server`. */
export function serverField(backend: Backend, server: HaproxyLine, name: string): string | undefined {
  const of = (words: readonly string[] | undefined): string | undefined => {
    const at = words?.indexOf(name) ?? -1;
    return at === -1 ? undefined : words?.[at + 1];
  };
  const common = (section: HaproxySection | undefined): string | undefined =>
    of(section?.lines.findLast(({ words }) => words[0] === "default-server")?.words);
  return of(server.words) ?? common(backend.section) ?? common(backend.defaults);
}

/** The mode of a backend; HAProxy's own default is tcp. */
export function modeOf(backend: Backend): string {
  return hasOption(backend, "mode")?.words[1] ?? "tcp";
}
