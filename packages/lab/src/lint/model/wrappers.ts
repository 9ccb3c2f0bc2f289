/** Programs that run the rest of their words: some in their own place, inits as their child. */

import type { Argument } from "../parse/dockerfile.ts";
import { baseName } from "./runners.ts";

const MAX_WRAPPERS = 12;

/** They run the rest of their words in their own place. */
const TRANSPARENT = new Set(
  "env nice nohup gosu su-exec setpriv chpst s6-setuidgid ionice taskset numactl stdbuf chroot setuidgid chrt prlimit".split(
    " ",
  ),
);

export function skipTransparent(args: readonly Argument[]): readonly Argument[] {
  let rest = args;
  for (let turn = 0; turn < MAX_WRAPPERS; turn += 1) {
    const name = baseName(rest[0]?.text ?? "");
    if (!TRANSPARENT.has(name)) {
      return rest;
    }
    const takesUser =
      name === "gosu" || name === "su-exec" || name === "chroot" || name.endsWith("setuidgid");
    let at = 1;
    const skipped = name === "env" ? /^(-|\w+=)/ : /^-\S/;
    while (skipped.test(rest[at]?.text ?? "")) {
      at += /^-[nug]$/.test(rest[at]?.text ?? "") ? 2 : 1;
    }
    rest = rest.slice(takesUser ? at + 1 : at);
  }
  return rest;
}

export function skipAssignments(rest: readonly Argument[]): readonly Argument[] {
  let at = 0;
  while (/^(\w+=|--?\w)/.test(rest[at]?.text ?? "") || rest[at]?.text === "--") {
    at += /^-[ef]$/.test(rest[at]?.text ?? "") ? 2 : 1;
  }
  return rest.slice(at);
}

export function initChild(
  name: string,
  rest: readonly Argument[],
): { child: readonly Argument[]; group: boolean } {
  let group = name === "dumb-init";
  let at = 0;
  for (; at < rest.length; at += 1) {
    const word = rest[at]?.text ?? "";
    if (word === "--") {
      at += 1;
      break;
    }
    if (!word.startsWith("-")) {
      break;
    }
    if (name === "dumb-init") {
      if (word === "-c" || word === "--single-child") {
        group = false;
      } else if (word === "-r" || word === "--rewrite") {
        at += 1;
      }
    } else {
      group ||= /^-\w*g/.test(word);
      if (word === "-p" || word === "-e") {
        at += 1;
      }
    }
  }
  return { child: rest.slice(at), group };
}
