/** The flags that say what a service of one's own is asked for, and who sees what comes to it. */

import { didYouMean } from "../nearest.ts";
import { speaksHttp2ToCopies, type RouterBehaviour } from "../router/options.ts";
import { refuse, route } from "./option-values.ts";
import type { RolloutPlan, Routes } from "./plan.ts";
import type { RolloutOptions } from "./rollout-options.ts";

const ORDERS_ROUTES: Routes = {
  ready: "/ready",
  live: null,
  // The id in the path is what joins a line of the router's log with its request.
  get: "/work?seconds=0.3&id={id}",
  post: "/orders?id={id}",
  postBody: '{"id":"{id}","work":0.3}',
};

export function routesOf(options: RolloutOptions, stranger: boolean): Routes {
  const ready = route("ready", options.ready);
  const live = route("live", options.live);
  const get = route("get", options.get);
  const post = route("post", options.post);
  const postBody = options["post-body"];
  if (!stranger) {
    const given = [
      ["ready", ready],
      ["live", live],
      ["get", get],
      ["post", post],
      ["post-body", postBody],
      ["executed", options.executed],
    ].find(([, value]) => value !== undefined);
    if (given !== undefined) {
      refuse(
        `--${given[0]} belongs to a service of yours.`,
        "Add its command: -- node app.js, or drop the flag.",
      );
    }
    return ORDERS_ROUTES;
  }
  if (postBody !== undefined && post === undefined) {
    refuse("--post-body has no --post to go with.", "Add --post /path, or drop the body.");
  }
  if (options.executed !== undefined && post === undefined) {
    refuse("--executed has no --post whose ids it could hold.", "Add --post /path, or drop the file.");
  }
  return {
    ready: ready ?? "/ready",
    live: live ?? null,
    get: get ?? (post === undefined ? "/" : null),
    post: post ?? null,
    postBody: post === undefined ? null : (postBody ?? '{"id":"{id}"}'),
  };
}

/** `--witness FILE` is `--executed FILE`: the service's own list is a witness too. */
export function witnessOf(
  { witness, executed, post }: RolloutOptions,
  stranger: boolean,
): Pick<RolloutPlan, "witness" | "executedFile"> {
  if (witness === undefined || witness === "none" || witness === "import" || witness === "shim") {
    return { witness: witness ?? "none", executedFile: executed ?? null };
  }
  if (!/[./\\]/.test(witness)) {
    refuse(
      `--witness knows no '${witness}'.`,
      `${didYouMean(witness, ["import", "shim", "none"])}It may be import, shim, none, or a file with its folder: ./executed.txt.`,
    );
  }
  if (executed !== undefined) {
    refuse("--witness and --executed both name a file.", "Drop one of them.");
  }
  if (!stranger || post === undefined) {
    refuse(
      "--witness FILE has no --post whose ids it could hold.",
      "Add --post /path and the command of your service, or use import or shim.",
    );
  }
  return { witness: "none", executedFile: witness };
}

/** The witnesses of the lab see HTTP/1.1: what they do not see must not count as what never came. */
export function witnessed<T extends Pick<RolloutPlan, "witness">>(chosen: T, behaviour: RouterBehaviour): T {
  if (chosen.witness !== "none" && speaksHttp2ToCopies(behaviour)) {
    refuse(
      `--witness ${chosen.witness} sees HTTP/1.1 only, and the copies are spoken to by HTTP/2.`,
      "Drop it, name a file that the service writes, or let a router turn HTTP/2 into HTTP/1.1 (without --pooled-at-removal).",
    );
  }
  return chosen;
}
