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

/** The upstream that a `proxy_pass` names. */
export function passTarget(file: NginxFile, pass: Directive): Upstream | undefined {
  const host = /^https?:\/\/([^/:]+)/.exec(pass.args[0] ?? "")?.[1];
  return upstreams(file).find(({ name }) => name === host);
}

/** A configuration's top file, not a snippet that another one includes. */
export function isMain(file: NginxFile): boolean {
  return file.directives.some(({ name }) => name === "http" || name === "events");
}
