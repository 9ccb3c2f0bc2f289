/** The flags that say what load is sent -> data for the load engine. Every wrong value ends here. */

import { formatDuration, parseDuration } from "../duration.ts";
import {
  ENGINES,
  type Arrivals,
  type ArrivalStep,
  type EngineName,
  type RequestTemplate,
} from "../load/load.ts";
import type { RouterBehaviour } from "../router/options.ts";
import { parseLoad } from "./load-file.ts";
import { number, oneOf, refuse } from "./option-values.ts";

/** What is sent, beside rate and seed. */
export interface LoadShape {
  /** Null: GETs and POSTs of the routes, evenly. */
  readonly mix: readonly RequestTemplate[] | null;
  readonly arrivals: Arrivals;
  readonly engine: EngineName;
  readonly workers: number;
  /** Of the requests for which the mix names none. */
  readonly protocol: ProtocolName;
}

const PROTOCOLS = ["http/1.1", "h2"] as const;
export type ProtocolName = (typeof PROTOCOLS)[number];

export interface LoadOptions {
  readonly load?: string;
  readonly arrivals?: string;
  readonly engine?: string;
  readonly "load-workers"?: string;
  readonly protocol?: string;
}

const FORM = "Write constant, poisson, or steps of a rate and a time: 20:5s,200:2s,20:5s.";

/** `constant`, `poisson`, or `20:5s,200:2s`. */
export function arrivalsOf(text: string | undefined, ratePerSecond: number): Arrivals {
  if (text === undefined || text === "constant" || text === "poisson") {
    return { kind: text ?? "constant", ratePerSecond };
  }
  const steps = text.split(",").map((part): ArrivalStep => {
    const [rate = "", time = ""] = part.trim().split(":");
    const forMs = parseDuration(time);
    if (!/^\d+(\.\d+)?$/.test(rate) || forMs === null || forMs <= 0 || Number(rate) > 20_000) {
      return refuse(`--arrivals '${part}' is no step.`, `${FORM} A rate may be 0 to 20000.`);
    }
    return { ratePerSecond: Number(rate), forMs };
  });
  if (steps.every((step) => step.ratePerSecond === 0)) {
    refuse(`--arrivals ${text} sends nothing.`, FORM);
  }
  return { kind: "steps", steps };
}

/** For the ledger: `constant`, `20:5s,200:2s`. */
export function arrivalsInWords(arrivals: Arrivals): string {
  return arrivals.kind === "steps"
    ? arrivals.steps.map(({ ratePerSecond, forMs }) => `${ratePerSecond}:${formatDuration(forMs)}`).join(",")
    : arrivals.kind;
}

/** The template in the protocol of the run. A WebSocket is opened by HTTP/1.1, whatever the others speak. */
export function spoken(template: RequestTemplate, protocol: ProtocolName): RequestTemplate {
  return protocol === "h2" && template.webSocket === undefined ? { ...template, protocol } : template;
}

/** What the load asks of a router: absent where every router can do it. */
export function speechOf({ mix, protocol }: LoadShape): Pick<RouterBehaviour, "http2" | "webSockets"> {
  const ofHttp2 = mix?.filter((template) => template.protocol === "h2").length ?? (protocol === "h2" ? 1 : 0);
  return {
    ...(ofHttp2 === 0 ? {} : { http2: ofHttp2 === (mix?.length ?? 1) ? "only" : "beside" }),
    ...(mix?.some(({ webSocket }) => webSocket !== undefined) === true ? { webSockets: true } : {}),
  };
}

/** Flags win over the file. `readText` reads it; its failure is the caller's to tell. */
export function loadShape(
  options: LoadOptions,
  ratePerSecond: number,
  readText: (file: string) => string,
): LoadShape {
  const file = options.load === undefined ? null : parseLoad(options.load, readText(options.load));
  const given = { ...file, ...options };
  const protocol = oneOf("protocol", given.protocol, PROTOCOLS) ?? "http/1.1";
  return {
    mix: file === null ? null : file.mix.map((template) => spoken(template, protocol)),
    protocol,
    arrivals: arrivalsOf(given.arrivals, ratePerSecond),
    engine: oneOf("engine", given.engine, ENGINES) ?? "raw",
    workers: number("load-workers", given["load-workers"], 1, 1, 16),
  };
}
