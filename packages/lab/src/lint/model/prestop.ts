/** A preStop hook: what it runs, and how long that takes as far as its text tells. */

import type { Argument } from "../parse/dockerfile.ts";
import { simpleCommands } from "../parse/handover.ts";
import { argumentOf } from "../parse/package-json.ts";
import { parseShell } from "../parse/shell.ts";
import { get, keyAt, number, text, type Tree } from "../parse/tree.ts";
import type { Place } from "../source.ts";
import { goDuration, sleepDuration } from "../time.ts";
import { baseName } from "./runners.ts";

export interface PreStop {
  readonly kind: "sleep" | "exec" | "http" | "unknown";
  readonly at: Place;
  /** What is known of its time. */
  readonly ms: number;
  /** False: it takes at least `ms`. */
  readonly complete: boolean;
  readonly words: readonly Argument[];
}

export function toArguments(tree: Tree | undefined): readonly Argument[] | undefined {
  if (tree?.kind !== "list") {
    return undefined;
  }
  return tree.items.map((item) => argumentOf(item, text(item) ?? ""));
}

/** The annotation by which an unknown preStop says how long it takes. */
const PRESTOP_ANNOTATION = "lastcall/prestop";

export function toPreStop(container: Tree, annotations: ReadonlyMap<string, string>): PreStop | undefined {
  const tree = get(container, "lifecycle", "preStop");
  const at = keyAt(container, "lifecycle", "preStop");
  if (tree?.kind !== "map" || at === undefined) {
    return undefined;
  }
  const sleep = number(get(tree, "sleep", "seconds"));
  if (sleep !== undefined) {
    return { kind: "sleep", at, ms: sleep * 1000, complete: true, words: [] };
  }
  const words = toArguments(get(tree, "exec", "command"));
  if (words !== undefined) {
    const known = hookTime(words);
    const said = known.complete ? undefined : annotated(annotations);
    return { kind: "exec", at, words, ...(said === undefined ? known : { ms: said, complete: true }) };
  }
  const said = annotated(annotations);
  const kind = get(tree, "httpGet") === undefined ? "unknown" : "http";
  return { kind, at, words: [], ms: said ?? 0, complete: said !== undefined };
}

function annotated(annotations: ReadonlyMap<string, string>): number | undefined {
  const value = annotations.get(PRESTOP_ANNOTATION);
  return value === undefined ? undefined : goDuration(value);
}

/** How long a hook takes: the sum of its sleeps; other commands take an unknown time. */
function hookTime(given: readonly Argument[]): { ms: number; complete: boolean } {
  const words = baseName(given[0]?.text ?? "") === "busybox" ? given.slice(1) : given;
  const name = baseName(words[0]?.text ?? "");
  if (name === "sleep") {
    const ms = sleepDuration(words[1]?.text ?? "");
    return { ms: ms ?? 0, complete: ms !== undefined };
  }
  const script =
    ["sh", "bash", "ash", "dash"].includes(name) && /^-\w*c$/.test(words[1]?.text ?? "")
      ? words[2]
      : undefined;
  const list = script === undefined ? undefined : parseShell(script.text);
  if (list === undefined) {
    return { ms: 0, complete: false };
  }
  let ms = 0;
  let complete = list.every(({ background, chain }) => !background && chain.every(({ op }) => op !== "||"));
  for (const command of simpleCommands(list)) {
    const called = baseName(command.words[0]?.text ?? "");
    if (called === "sleep") {
      const time = sleepDuration(command.words[1]?.text ?? "");
      ms += time ?? 0;
      complete &&= time !== undefined;
    } else if (!["", "echo", "touch", "rm", "kill", "nginx", "true", ":", "test", "exit"].includes(called)) {
      complete = false;
    }
  }
  // Sleeps inside branches and loops may run never or often.
  const simple = list.every((item) =>
    item.chain.every(({ pipeline }) => pipeline.every(({ kind }) => kind === "simple")),
  );
  return simple ? { ms, complete } : { ms: 0, complete: false };
}
