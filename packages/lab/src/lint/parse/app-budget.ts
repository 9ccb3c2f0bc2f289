/** The service's own budget as its source tells it: numbers in a `createLifecycle({...})` literal, and stop handlers. */

import { type Source, place } from "../source.ts";
import type { Time } from "../time.ts";

export interface AppSource {
  readonly source: Source;
  readonly folder: string;
  readonly usesLastcall: boolean;
  /** By option name, milliseconds. */
  readonly options: ReadonlyMap<string, Time>;
  readonly readinessInLameDuck: string | undefined;
  readonly admission: string | undefined;
  /** Signals with a handler in this file. */
  readonly signals: ReadonlySet<string>;
  /** The time of a forced exit: `setTimeout(() => process.exit(1), N)`. */
  readonly forceExit: Time | undefined;
  /** `server.keepAliveTimeout = N`. */
  readonly keepAlive: Time | undefined;
  readonly closesOnly: boolean;
}

const NUMBER = String.raw`(\d[\d_]*(?:\.\d+)?(?:\s*\*\s*\d[\d_]*)?)`;

export function readAppSource(source: Source, folder: string): AppSource | undefined {
  const { text } = source;
  if (!/createLifecycle|SIG(TERM|INT|QUIT|USR2)|keepAliveTimeout|lastcall/.test(text)) {
    return undefined;
  }
  const options = new Map<string, Time>();
  let readinessInLameDuck: string | undefined;
  let admission: string | undefined;
  const call = /createLifecycle\s*\(\s*\{/.exec(text);
  if (call !== null) {
    const from = call.index + call[0].length;
    const body = text.slice(from, closing(text, from - 1));
    for (const match of body.matchAll(new RegExp(String.raw`(\w+Ms)\s*:\s*${NUMBER}\s*(?=[,}\n]|$)`, "g"))) {
      const at = place(source, from + match.index, from + match.index + match[0].trimEnd().length);
      options.set(match[1] ?? "", { ms: product(match[2] ?? ""), origin: { kind: "file", at } });
    }
    readinessInLameDuck = /readinessInLameDuck\s*:\s*["'](\w+)["']/.exec(body)?.[1];
    admission = /admission\s*:\s*["'](\w+)["']/.exec(body)?.[1];
  }
  const signals = new Set<string>();
  for (const match of text.matchAll(/\.(?:on|once|addListener|prependListener)\(\s*["'](SIG\w+)["']/g)) {
    signals.add(match[1] ?? "");
  }
  for (const match of text.matchAll(/["'](SIG(?:TERM|INT|QUIT|USR2))["']\s*[,\]]/g)) {
    signals.add(match[1] ?? "");
  }
  const forced = new RegExp(
    String.raw`setTimeout\(\s*(?:\(\)\s*=>|function\s*\(\)\s*\{)[^;]{0,120}?process\.exit\([^)]*\)[;\s}]*,\s*${NUMBER}`,
  ).exec(text);
  const keepAlive = new RegExp(String.raw`\.keepAliveTimeout\s*=\s*${NUMBER}`).exec(text);
  const timeOf = (match: RegExpExecArray | null): Time | undefined =>
    match === null
      ? undefined
      : {
          ms: product(match[1] ?? ""),
          origin: { kind: "file", at: place(source, match.index, match.index + match[0].length) },
        };
  return {
    source,
    folder,
    usesLastcall: call !== null || /["']lastcall(\/auto)?["']/.test(text),
    options,
    readinessInLameDuck,
    admission,
    signals,
    forceExit: timeOf(forced),
    keepAlive: timeOf(keepAlive),
    closesOnly: /\.close\(/.test(text) && forced === null,
  };
}

/** `30_000`, `30 * 1000`. */
function product(text: string): number {
  return text
    .split("*")
    .map((part) => Number(part.replaceAll("_", "").trim()))
    .reduce((left, right) => left * right, 1);
}

function closing(text: string, open: number): number {
  let depth = 0;
  for (let at = open; at < text.length; at += 1) {
    depth += text[at] === "{" ? 1 : text[at] === "}" ? -1 : 0;
    if (depth === 0) {
      return at;
    }
  }
  return text.length;
}
