/** A client Service that sends to pods which say no. */

import type { Rule } from "../../finding.ts";
import { get, truth } from "../../parse/tree.ts";
import { isForOnePod, isHeadless } from "../ask.ts";

export const publishNotReady: Rule = {
  id: "router/publish-not-ready",
  severity: "warning",
  summary: "A Service for clients publishes addresses that are not ready.",
  why: "Every endpoint counts as ready: starting and draining pods go on getting requests.",
  *check(model) {
    for (const object of model.objects) {
      const value = get(object.tree, "spec", "publishNotReadyAddresses");
      if (
        object.kind === "Service" &&
        truth(value) === true &&
        value !== undefined &&
        !isHeadless(object) &&
        !isForOnePod(object)
      ) {
        yield {
          at: value.at,
          message: `Service ${object.name} sends to pods that are not ready. Keep this for headless peer discovery.`,
        };
      }
    }
  },
};
