/** The kinds that a run could not have shown, whatever happened in it: they are named, never guessed. */

import type { Collection } from "./collection.ts";
import { NEEDS, type Need } from "./kind.ts";
import { KINDS } from "./kinds.ts";
import type { NotLookedFor } from "./verdict.ts";

function has(need: Need, { run, store, events, speakers, streams, http2, webSockets }: Collection): boolean {
  const told = (name: string): boolean => run?.parameters[name] === true;
  switch (need) {
    case "store":
      return store.wasChecked();
    case "liveness":
      return typeof run?.parameters["live"] === "string";
    case "reload":
      return events.some((one) => one.event === "reloaded");
    case "retries":
      return told("retries");
    case "workers": {
      const copies = new Set(events.flatMap((one) => (one.copy === null ? [] : [one.copy])));
      const pids = new Set(events.map((one) => String(one.detail["pid"])));
      return [...speakers.keys()].some((name) => !copies.has(name) && !pids.has(name));
    }
    case "streams":
      return streams;
    case "webSockets":
      return webSockets !== null;
    case "http2":
      return http2 !== null;
    case "platform":
    case "clients":
      return false;
  }
}

export function notLookedFor(all: Collection): readonly NotLookedFor[] {
  const needs = new Map<Need, boolean>();
  return Object.entries(KINDS).flatMap(([slug, { id, needs: need }]) => {
    if (need === null) {
      return [];
    }
    const met = needs.get(need) ?? has(need, all);
    needs.set(need, met);
    return met ? [] : [{ id, slug, needs: NEEDS[need] }];
  });
}
