/** The upstreams of an nginx configuration, and who passes to them. */

import { type Directive, find, type NginxFile } from "../parse/nginx.ts";

/** An nginx upstream with its servers. */
export interface Upstream {
  readonly name: string;
  readonly block: Directive;
  readonly servers: readonly Directive[];
}

export function upstreams(file: NginxFile): readonly Upstream[] {
  return [...find(file.directives, "upstream")].map(({ directive }) => ({
    name: directive.args[0] ?? "",
    block: directive,
    servers: (directive.block ?? []).filter(({ name }) => name === "server"),
  }));
}

/** A `proxy_pass` with the upstream that it names and the settings that hold for it. */
export interface Pass {
  readonly pass: Directive;
  readonly target: Upstream | undefined;
  /** The nearest setting of this name: in the blocks around it, innermost first, then at the top. */
  readonly setting: (name: string) => Directive | undefined;
}

export function* passes(file: NginxFile): Iterable<Pass> {
  const byName = new Map(upstreams(file).map((upstream) => [upstream.name, upstream]));
  // Each block is searched once, however many places ask for its settings.
  const index = new Map<readonly Directive[], ReadonlyMap<string, Directive>>();
  const settingsOf = (block: readonly Directive[]): ReadonlyMap<string, Directive> => {
    const known = index.get(block) ?? new Map(block.map((directive) => [directive.name, directive]));
    index.set(block, known);
    return known;
  };
  for (const { directive: pass, around } of find(file.directives, "proxy_pass")) {
    const host = /^https?:\/\/([^/:]+)/.exec(pass.args[0] ?? "")?.[1] ?? "";
    const blocks = [
      file.directives,
      ...around.flatMap(({ block }) => (block === undefined ? [] : [block])),
    ].toReversed();
    yield {
      pass,
      target: byName.get(host),
      setting: (name) =>
        blocks.map((block) => settingsOf(block).get(name)).find((found) => found !== undefined),
    };
  }
}

/** A configuration's top file, not a snippet that another one includes. */
export function isMain(file: NginxFile): boolean {
  return file.directives.some(({ name }) => name === "http" || name === "events");
}
