/** The routes of a described service, from the file and from flags: written as `GET /path`, with a brace for all that a judge must be able to say. */

import type { Route, Subject } from "../contract/subject.ts";
import { LabError } from "../errors.ts";
import { didYouMean } from "../nearest.ts";
import { group, refuse, type Json } from "./known-keys.ts";
import { ROUTE_NAMES } from "./names.ts";

/** Those of the file. */
export function routes(config: Json): Subject["routes"] {
  const given = group(config, "routes", ROUTE_NAMES);
  for (const [name, route] of Object.entries(given)) {
    if (typeof route !== "string" || !/^(?:GET|POST|PUT) \/\S*$/.test(route)) {
      refuse(
        `prove.routes.${name} is ${JSON.stringify(route)}.`,
        `A route is written GET /path: ${ROUTE_NAMES[name as keyof typeof ROUTE_NAMES]}.`,
      );
    }
  }
  return given;
}

/** What a judge must be able to say to a route: without it each request would be the same. */
const MUST_HOLD: Readonly<Partial<Record<keyof Subject["routes"], string>>> = {
  slow: "seconds",
  outlives: "seconds",
  stream: "seconds",
  task: "seconds",
  abortableTask: "seconds",
  abandonedTask: "seconds",
  handoffTask: "seconds",
  spin: "seconds",
  native: "seconds",
  bulk: "bytes",
  stubborn: "shape",
};
const ROUTE_BRACES = ["id", "seconds", "bytes", "shape"];

/** Routes from the file and from flags alike: every brace is one that is filled in, and what is needed is there. */
export function checkBraces(given: Subject["routes"]): void {
  for (const [name, route] of Object.entries(given)) {
    for (const [, brace = ""] of route.matchAll(/\{([^}]*)\}/g)) {
      if (!ROUTE_BRACES.includes(brace)) {
        refuse(
          `The ${name} route ${route} holds {${brace}}, which nobody fills in.`,
          `${didYouMean(brace, ROUTE_BRACES)}Known are ${ROUTE_BRACES.map((known) => `{${known}}`).join(", ")}.`,
        );
      }
    }
    const must = MUST_HOLD[name as keyof Subject["routes"]];
    if (must !== undefined && !route.includes(`{${must}}`)) {
      refuse(
        `The ${name} route ${route} has no place for {${must}}.`,
        `Write it where the route takes it, such as ${route}${route.includes("?") ? "&" : "?"}${must}={${must}}: ${ROUTE_NAMES[name as keyof typeof ROUTE_NAMES]}.`,
      );
    }
  }
}

/** `GET /path` of a flag that gives a path alone. */
export function routeOf(method: "GET" | "POST", path: string, flagName: string): Route {
  if (!path.startsWith("/")) {
    throw new LabError(
      "LAB_OPTION",
      `--${flagName} is '${path}'.`,
      `A path begins with /: --${flagName} /${path}`,
    );
  }
  return `${method} ${path as `/${string}`}`;
}
