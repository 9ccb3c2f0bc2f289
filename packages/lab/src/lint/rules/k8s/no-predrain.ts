/** Clients reach the pod through a Service, and nothing waits until they stop. */

import type { Rule } from "../../finding.ts";
import type { K8sObject } from "../../model/kubernetes.ts";
import { get, text } from "../../parse/tree.ts";
import { isMeshed, isStateful, podMembers, podTargeting, preDrain, servedPods } from "../ask.ts";

export const noPredrain: Rule = {
  id: "k8s/no-predrain",
  severity: "warning",
  summary: "A Service sends to the pod and neither a preStop hook nor a drain delay waits for the routers.",
  why: "Endpoints are removed while SIGTERM is delivered: for a moment nodes still send to a pod that no longer listens.",
  *check(model) {
    for (const served of servedPods(model)) {
      const { pod, services } = served;
      const quiet =
        isMeshed(pod) ||
        podTargeting(pod).length > 0 ||
        services.some((one) => isLocal(one)) ||
        pod.containers.some(({ preStop }) => preStop !== undefined);
      for (const member of quiet ? [] : podMembers(served)) {
        if (preDrain(pod, member) === 0 && !isStateful(member.container?.image)) {
          yield {
            at: member.at,
            message: `${member.name} may refuse requests that are still on their way when it is stopped. Add a preStop sleep of some seconds, or a drain delay in the service.`,
            ...(services[0] === undefined
              ? {}
              : { related: [{ message: `Service ${services[0].name} sends to it`, at: services[0].at }] }),
          };
        }
      }
    }
  },
};

function isLocal(service: K8sObject): boolean {
  return text(get(service.tree, "spec", "externalTrafficPolicy")) === "Local";
}
