/** A systemd unit as a workload. */

import type { Argument } from "../parse/dockerfile.ts";
import { setting, type Setting, settingsOf, type Unit } from "../parse/systemd.ts";
import { type Origin, systemdDuration, type Time } from "../time.ts";
import { resolveArgv, wordsOfString } from "./chain.ts";
import { UNKNOWN_IMAGE } from "./image-facts.ts";
import { chainContext } from "./images.ts";
import { partsOf } from "./parts.ts";
import type { EnvValue, Timer, Workload } from "./workload.ts";
import { type Links, saidFor, stopSignalOf } from "./workloads.ts";

/** TimeoutSec sets both times; the later of the two assignments holds. */
function stopTimeout(unit: Unit): Time | undefined {
  const own = setting(unit, "Service.TimeoutStopSec");
  const both = setting(unit, "Service.TimeoutSec");
  const last = own === undefined || (both !== undefined && isLater(both, own)) ? both : own;
  const ms = last === undefined ? undefined : systemdDuration(last.value);
  return last === undefined || ms === undefined
    ? undefined
    : { ms: ms === 0 ? Number.POSITIVE_INFINITY : ms, origin: { kind: "file", at: last.at } };
}

function isLater(left: Setting, right: Setting): boolean {
  const same = left.at.source === right.at.source;
  return same ? left.at.start > right.at.start : left.at.source.path.includes(".d/");
}

/** ExecStart's words: prefixes taken off; systemd knows no shell. */
export function execWords(value: Setting): readonly Argument[] {
  const prefix = /^[-@:+!|]*/.exec(value.value)?.[0].length ?? 0;
  const argument = { text: value.value.slice(prefix), at: value.valueAt, exact: false };
  return wordsOfString(argument) ?? [];
}

export function unitWorkload(unit: Unit, links: Links): Workload {
  const start = setting(unit, "Service.ExecStart");
  const timeout = stopTimeout(unit);
  const none: Origin = { kind: "default", of: "systemd" };
  const isOneshot = setting(unit, "Service.Type")?.value === "oneshot";
  const at = timeout?.origin.kind === "file" ? timeout.origin.at : (start?.at ?? unit.at);
  const timer: Timer = {
    name: "TimeoutStopSec",
    ms: timeout?.ms ?? 90_000,
    origin: timeout?.origin ?? none,
    at,
  };
  const chain =
    start === undefined
      ? []
      : resolveArgv(
          execWords(start),
          chainContext("\u0000", { ...UNKNOWN_IMAGE, shell: "unknown" }, links.context),
        );
  const environment = new Map<string, EnvValue>();
  for (const one of settingsOf(unit, "Service.Environment")) {
    for (const match of one.value.matchAll(/"?(\w+)=("([^"]*)"|'([^']*)'|[^\s"]*)/g)) {
      environment.set(match[1] ?? "", { value: match[3] ?? match[4] ?? match[2] ?? "", at: one.at });
    }
  }
  const signal = setting(unit, "Service.KillSignal");
  const name = unit.name.replace(/\.service$/, "");
  return {
    platform: "systemd",
    name: `unit ${unit.name}`,
    at: start?.at ?? unit.at,
    timer: isOneshot ? undefined : timer,
    unit,
    members: [
      {
        name,
        at: start?.at ?? unit.at,
        facts: UNKNOWN_IMAGE,
        image: undefined,
        program:
          start === undefined
            ? undefined
            : {
                name,
                at: start.at,
                chain,
                facts: UNKNOWN_IMAGE,
                image: undefined,
                platform: "systemd",
                pid1: false,
                words: undefined,
              },
        environment,
        sources: [],
        parts: partsOf({ said: saidFor(links, unit.name, name), environment, sources: [], chain }),
        stopSignal: stopSignalOf(
          signal === undefined ? undefined : { signal: signal.value, at: signal.at },
          undefined,
          UNKNOWN_IMAGE,
        ),
      },
    ],
  };
}
