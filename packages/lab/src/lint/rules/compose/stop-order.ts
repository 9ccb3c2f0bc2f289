/** A service uses a database that may stop first. */

import type { Rule } from "../../finding.ts";
import type { ComposeService } from "../../model/compose.ts";
import type { Model } from "../../model/model.ts";
import { isStateful } from "../ask.ts";

export const stopOrder: Rule = {
  id: "compose/stop-order",
  severity: "info",
  summary: "A service uses another one without depends_on, which may then stop first.",
  why: "Compose stops dependents before what they depend on; without depends_on all stop at once.",
  *check(model) {
    for (const service of model.services) {
      const others = model.services.filter(
        (one) => one.file === service.file && one !== service && isStateful(one.image),
      );
      for (const { value, at } of service.environment.values()) {
        const used = others.find(({ name }) => new RegExp(`(//|@)${name}([:/]|$)`).test(value));
        if (used !== undefined && !dependsOn(service, used.name, model)) {
          yield {
            at,
            message: `${service.name} uses ${used.name} but does not depend on it: ${used.name} may be gone while ${service.name} still drains.`,
          };
        }
      }
    }
  },
};

function dependsOn(service: ComposeService, name: string, model: Model, depth = 0): boolean {
  return (
    service.dependsOn.includes(name) ||
    (depth < 10 &&
      model.services.some(
        (one) =>
          one.file === service.file &&
          service.dependsOn.includes(one.name) &&
          dependsOn(one, name, model, depth + 1),
      ))
  );
}
