/** A sidecar that leaves while the service still needs it. */

import type { Rule, Severity } from "../../finding.ts";
import { baseName } from "../../model/runners.ts";
import { type PodContainer, servedContainers } from "../../model/kubernetes.ts";

export const sidecarInContainers: Rule = {
  id: "k8s/sidecar-in-containers",
  severity: "warning",
  summary: "A proxy that the service needs is an ordinary container and stops at the same moment.",
  why: "All containers get SIGTERM together; the proxy is gone while the service drains through it.",
  *check(model) {
    for (const pod of model.pods) {
      if (pod.containers.length < 2 || pod.object.kind === "Job" || pod.object.kind === "CronJob") {
        continue;
      }
      const served = new Set(servedContainers(pod));
      for (const container of pod.containers) {
        const found = SIDECARS.find(({ pattern }) => pattern.test(imageName(container)));
        const waits = [...(container.command ?? []), ...(container.args ?? [])].some((word) =>
          /max-sigterm-delay|term_timeout|exit-zero-on-sigterm|drain-time/.test(word.text),
        );
        if (found !== undefined && !served.has(container) && container.preStop === undefined && !waits) {
          yield {
            at: container.at,
            severity: found.severity,
            message: `${container.name} gets SIGTERM together with the service that uses it. Make it an init container with restartPolicy: Always (Kubernetes 1.29), or let it wait.`,
          };
        }
      }
    }
  },
};

const SIDECARS: readonly { readonly pattern: RegExp; readonly severity: Severity }[] = [
  {
    pattern:
      /^(cloud-sql-proxy|cloudsql-proxy|gce-proxy|alloydb-auth-proxy|envoy|proxyv2|istio-proxy|linkerd-proxy|pgbouncer|daprd|vault-agent)$/,
    severity: "warning",
  },
  {
    pattern:
      /^(fluent-bit|fluentd|filebeat|vector|promtail|opentelemetry-collector(-contrib)?|otel-collector)$/,
    severity: "info",
  },
];

function imageName({ image }: PodContainer): string {
  return baseName((image ?? "").replace(/@.*$/, "")).replace(/:.*$/, "");
}
