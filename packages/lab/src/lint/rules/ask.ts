/** Questions that several rules ask of the model. Each gives the quiet answer where something is unknown. */

import { type K8sObject, type Pod, servedContainers } from "../model/kubernetes.ts";
import type { Model } from "../model/model.ts";
import type { Member, Workload } from "../model/workload.ts";
import { get, items, keyAt, number, text, texts, type Tree } from "../parse/tree.ts";
import type { Draft } from "../finding.ts";
import type { Place } from "../source.ts";

/** A pod workload that clients reach through a Service or an Ingress. */
export interface Served {
  readonly workload: Workload;
  readonly pod: Pod;
  readonly services: readonly K8sObject[];
}

export function isHeadless(service: K8sObject): boolean {
  return text(get(service.tree, "spec", "clusterIP")) === "None";
}

/** Services that clients use: not headless, not made for peers that are not ready. */
export function clientServices(pod: Pod): readonly K8sObject[] {
  return pod.services.filter(
    (service) => !isHeadless(service) && !isForMetrics(service) && !isForOnePod(service),
  );
}

/** Only a scraper uses it, and it comes again. */
function isForMetrics(service: K8sObject): boolean {
  const ports = items(get(service.tree, "spec", "ports"));
  const metrics = (port: Tree): boolean =>
    /metrics|prometheus|monitoring/.test(
      `${text(get(port, "name")) ?? ""} ${text(get(port, "targetPort")) ?? ""}`,
    );
  return ports.length > 0 && ports.every(metrics);
}

/** Peers of a StatefulSet find one pod by its name. */
export function isForOnePod(service: K8sObject): boolean {
  return texts(get(service.tree, "spec", "selector")).has("statefulset.kubernetes.io/pod-name");
}

export function* servedPods(model: Model): Iterable<Served> {
  for (const workload of model.workloads) {
    const { pod } = workload;
    if (pod !== undefined && pod.object.kind !== "Job" && pod.object.kind !== "CronJob") {
      const services = clientServices(pod);
      if (services.length > 0) {
        yield { workload, pod, services };
      }
    }
  }
}

/** The workload's members that the Service sends to. */
export function podMembers({ workload, pod }: Served): readonly Member[] {
  const served = servedContainers(pod);
  return workload.members.filter(({ container }) => container !== undefined && served.includes(container));
}

/** The library is in the image, the environment or the command. */
export function usesLastcall(member: Member): boolean {
  return (
    member.sources.some((source) => source.usesLastcall) ||
    [...member.environment.keys()].some((name) => name.startsWith("LASTCALL_")) ||
    (member.environment.get("NODE_OPTIONS")?.value.includes("lastcall/auto") ?? false) ||
    (member.image?.packageJson?.dependencies.has("lastcall") ?? false)
  );
}

/**
 * The time in which the service still takes new work after the stop decision: preStop hook and drain delay.
 * Undefined: it cannot be told.
 */
export function preDrain(pod: Pod, member: Member): number | undefined {
  const hooks = pod.containers.flatMap(({ preStop }) => preStop ?? []);
  if (hooks.some(({ complete }) => !complete)) {
    return undefined;
  }
  const hook = member.container?.preStop?.ms ?? 0;
  const { drainDelay, whole } = member.parts;
  if (drainDelay !== undefined) {
    return hook + drainDelay.ms;
  }
  // The library derives its delay: a quarter of the grace period.
  if (whole !== undefined) {
    return hook + whole.ms / 4;
  }
  return usesLastcall(member) ? undefined : hook;
}

/** Whether the service reports not ready as soon as it is told to stop; undefined: not known. */
export function failsReadiness(member: Member, model: Model): boolean | undefined {
  const said = model.settings.budgets.get(member.name) ?? model.settings.budgets.get("*");
  if (said?.readiness !== undefined) {
    return said.readiness === "fail";
  }
  const env = member.environment.get("LASTCALL_READINESS_IN_LAME_DUCK")?.value;
  const source = member.sources.find((one) => one.readinessInLameDuck !== undefined)?.readinessInLameDuck;
  const chosen = env ?? source;
  return chosen === undefined ? (usesLastcall(member) ? true : undefined) : chosen === "fail";
}

const STATEFUL =
  /(^|\/)(postgres(ql)?|mysql|mariadb|mongo(db)?|redis|valkey|kafka|rabbitmq|zookeeper|elasticsearch|opensearch|etcd|cassandra|nats|memcached|minio|clickhouse|consul|vault|prometheus|influxdb|couchdb|neo4j|pulsar|scylla|cockroach)(-\w+)*(:|@|$)/i;

/** Databases, queues and the like: their clients reconnect, and their stop has rules of its own. */
export function isStateful(image: string | undefined): boolean {
  return image !== undefined && STATEFUL.test(image);
}

/** A mesh proxy is asked for, which drains in its own way. */
export function isMeshed(pod: Pod): boolean {
  const asked = (map: ReadonlyMap<string, string>): boolean =>
    map.get("sidecar.istio.io/inject") === "true" ||
    /^(enabled|ingress)$/.test(map.get("linkerd.io/inject") ?? "");
  return asked(pod.annotations) || asked(pod.labels);
}

/** Where a load balancer outside the cluster is told to send straight to pods. */
export function podTargeting(pod: Pod): readonly Place[] {
  return [
    ...albIngresses(pod).flatMap((ingress) =>
      ingress.annotations.get("alb.ingress.kubernetes.io/target-type") === "ip"
        ? (keyAt(ingress.tree, "metadata", "annotations", "alb.ingress.kubernetes.io/target-type") ?? [])
        : [],
    ),
    ...pod.services.flatMap((service) => {
      const found: string[] = [];
      if (service.annotations.get("service.beta.kubernetes.io/aws-load-balancer-nlb-target-type") === "ip") {
        found.push("service.beta.kubernetes.io/aws-load-balancer-nlb-target-type");
      }
      if (/"ingress"\s*:\s*true|exposed_ports/.test(service.annotations.get("cloud.google.com/neg") ?? "")) {
        found.push("cloud.google.com/neg");
      }
      return found.flatMap((key) => keyAt(service.tree, "metadata", "annotations", key) ?? []);
    }),
  ];
}

export function albIngresses(pod: Pod): readonly K8sObject[] {
  return pod.ingresses.filter(
    (ingress) =>
      text(get(ingress.tree, "spec", "ingressClassName")) === "alb" ||
      ingress.annotations.get("kubernetes.io/ingress.class") === "alb" ||
      [...ingress.annotations.keys()].some((key) => key.startsWith("alb.ingress.kubernetes.io/")),
  );
}

/** The load balancer's own drain times that are written down. */
export function deregistration(
  pod: Pod,
  model: Model,
): readonly { readonly ms: number; readonly at: Place }[] {
  const found: { ms: number; at: Place }[] = [];
  const keys = [
    "alb.ingress.kubernetes.io/target-group-attributes",
    "service.beta.kubernetes.io/aws-load-balancer-target-group-attributes",
  ];
  for (const object of [...albIngresses(pod), ...pod.services]) {
    for (const key of keys) {
      const match = /deregistration_delay\.timeout_seconds=(\d+)/.exec(object.annotations.get(key) ?? "");
      const at = keyAt(object.tree, "metadata", "annotations", key);
      if (match !== null && at !== undefined) {
        found.push({ ms: Number(match[1]) * 1000, at });
      }
    }
  }
  for (const service of pod.services) {
    const names = service.annotations.get("cloud.google.com/backend-config");
    for (const config of names === undefined ? [] : model.objects) {
      const value = get(config.tree, "spec", "connectionDraining", "drainingTimeoutSec");
      const limit = number(value);
      const named = config.kind === "BackendConfig" && names?.includes(`"${config.name}"`) === true;
      if (named && limit !== undefined && value !== undefined) {
        found.push({ ms: limit * 1000, at: value.at });
      }
    }
  }
  return found;
}

/** A count or a percentage of a count. */
export function pctOrInt(tree: Tree | undefined): { readonly count?: number; readonly percent?: number } {
  const value = text(tree);
  const percent = /^(\d+)%$/.exec(value ?? "");
  const count = number(tree);
  return {
    ...(percent === null ? {} : { percent: Number(percent[1]) }),
    ...(count === undefined ? {} : { count }),
  };
}

/** What the readers could not read, for one of the `file/` rules. */
export function* problemsOf(model: Model, rule: string): Iterable<Draft> {
  for (const problem of model.problems) {
    if (problem.rule === rule) {
      yield { at: problem.at, message: problem.message };
    }
  }
}
