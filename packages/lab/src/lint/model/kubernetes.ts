/** Kubernetes objects, and pods with what selects, scales and protects them. */

import type { Argument } from "../parse/dockerfile.ts";
import { get, items, keyAt, number, text, texts, type Tree } from "../parse/tree.ts";
import { type Place, position } from "../source.ts";
import type { Time } from "../time.ts";
import { type PreStop, toArguments, toPreStop } from "./prestop.ts";

export interface K8sObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  readonly tree: Tree;
  /** The line of `kind:`. */
  readonly at: Place;
  readonly annotations: ReadonlyMap<string, string>;
}

export interface Probe {
  readonly tree: Tree;
  /** The key, `readinessProbe:`. */
  readonly at: Place;
  readonly kind: "http" | "tcp" | "grpc" | "exec" | "unknown";
  readonly path: string | undefined;
  readonly port: string | undefined;
  /** Headers that choose another answer, so that two probes differ: `Host` and names that only one of them has. */
  readonly headers: string;
}

export interface PodContainer {
  readonly name: string;
  readonly tree: Tree;
  readonly at: Place;
  readonly image: string | undefined;
  readonly imageAt: Place | undefined;
  readonly ports: readonly { readonly name: string | undefined; readonly port: number | undefined }[];
  readonly preStop: PreStop | undefined;
  readonly readiness: Probe | undefined;
  readonly liveness: Probe | undefined;
  readonly startup: Probe | undefined;
  readonly command: readonly Argument[] | undefined;
  readonly args: readonly Argument[] | undefined;
  /** A native sidecar: an init container that is restarted always. */
  readonly sidecar: boolean;
}

export interface Pod {
  readonly object: K8sObject;
  readonly template: Tree;
  readonly spec: Tree;
  readonly labels: ReadonlyMap<string, string>;
  readonly annotations: ReadonlyMap<string, string>;
  readonly grace: number | undefined;
  readonly graceAt: Place | undefined;
  readonly replicas: number | undefined;
  readonly containers: readonly PodContainer[];
  readonly sidecars: readonly PodContainer[];
  readonly services: readonly K8sObject[];
  readonly ingresses: readonly K8sObject[];
  readonly autoscaler: K8sObject | undefined;
  readonly budgets: readonly K8sObject[];
}

export function toObjects(tree: Tree): readonly K8sObject[] {
  const kind = text(get(tree, "kind"));
  const apiVersion = text(get(tree, "apiVersion"));
  if (kind === undefined || apiVersion === undefined) {
    return [];
  }
  if (kind.endsWith("List") && get(tree, "items")?.kind === "list") {
    return items(get(tree, "items")).flatMap(toObjects);
  }
  const at = get(tree, "kind")?.at ?? tree.at;
  return [
    {
      apiVersion,
      kind,
      name: text(get(tree, "metadata", "name")) ?? text(get(tree, "metadata", "generateName")) ?? "?",
      namespace: text(get(tree, "metadata", "namespace")) ?? "",
      tree,
      at,
      annotations: texts(get(tree, "metadata", "annotations")),
    },
  ];
}

/** Where each kind keeps its pod template. */
const TEMPLATES: Readonly<Record<string, readonly string[]>> = {
  Deployment: ["spec", "template"],
  StatefulSet: ["spec", "template"],
  DaemonSet: ["spec", "template"],
  ReplicaSet: ["spec", "template"],
  Rollout: ["spec", "template"],
  Job: ["spec", "template"],
  CronJob: ["spec", "jobTemplate", "spec", "template"],
  Pod: [],
};

export function toPods(objects: readonly K8sObject[]): readonly Pod[] {
  const index = indexOf(objects);
  return objects.flatMap((object) => {
    const path = TEMPLATES[object.kind];
    const template = path === undefined ? undefined : get(object.tree, ...path);
    const spec = get(template, "spec");
    return template === undefined || spec?.kind !== "map" ? [] : [toPod(object, template, spec, index)];
  });
}

/** What may belong to a pod, by one key that both sides know: thousands of manifests are then joined in one pass. */
interface Index {
  /** Services and disruption budgets by namespace and the first label of their selector. */
  readonly selecting: ReadonlyMap<string, readonly Selecting[]>;
  /** Ingresses by namespace and the Services they name. */
  readonly ingresses: ReadonlyMap<string, readonly K8sObject[]>;
  /** Autoscalers by namespace, kind and name of their target. */
  readonly autoscalers: ReadonlyMap<string, readonly K8sObject[]>;
}

interface Selecting {
  readonly object: K8sObject;
  readonly labels: readonly (readonly [string, string])[];
}

function indexOf(objects: readonly K8sObject[]): Index {
  const selecting = new Map<string, Selecting[]>();
  const ingresses = new Map<string, K8sObject[]>();
  const autoscalers = new Map<string, K8sObject[]>();
  for (const object of objects) {
    const { kind, namespace, tree } = object;
    if (kind === "Service" || kind === "PodDisruptionBudget") {
      const selector = get(tree, "spec", "selector");
      const labels = [...texts(kind === "Service" ? selector : get(selector, "matchLabels"))];
      const [first] = labels;
      if (first !== undefined) {
        push(selecting, joined(namespace, ...first), { object, labels });
      }
    } else if (kind === "Ingress") {
      for (const name of new Set(backendsOf(tree))) {
        push(ingresses, joined(namespace, name), object);
      }
    } else if (kind === "HorizontalPodAutoscaler" || kind === "ScaledObject") {
      const target = get(tree, "spec", "scaleTargetRef");
      push(
        autoscalers,
        joined(namespace, text(get(target, "kind")) ?? "Deployment", text(get(target, "name")) ?? ""),
        object,
      );
    }
  }
  return { selecting, ingresses, autoscalers };
}

function joined(...parts: readonly string[]): string {
  return parts.join("\u0000");
}

function push<T>(map: Map<string, T[]>, key: string, value: T): void {
  const list = map.get(key);
  if (list === undefined) {
    map.set(key, [value]);
  } else {
    list.push(value);
  }
}

function toPod(object: K8sObject, template: Tree, spec: Tree, index: Index): Pod {
  const { namespace } = object;
  const labels = texts(get(template, "metadata", "labels"));
  const annotations = texts(get(template, "metadata", "annotations"));
  const selecting = [...labels]
    .flatMap((pair) => index.selecting.get(joined(namespace, ...pair)) ?? [])
    // Every label of the selector is on the pod.
    .filter((one) => one.labels.every(([key, value]) => labels.get(key) === value))
    .map((one) => one.object);
  const services = selecting.filter(({ kind }) => kind === "Service");
  const inits = items(get(spec, "initContainers")).map((tree) => toContainer(tree, true, annotations));
  return {
    object,
    template,
    spec,
    labels,
    annotations,
    grace: number(get(spec, "terminationGracePeriodSeconds")),
    graceAt: get(spec, "terminationGracePeriodSeconds")?.at,
    replicas: number(get(object.tree, "spec", "replicas")),
    containers: items(get(spec, "containers")).map((tree) => toContainer(tree, false, annotations)),
    sidecars: inits.filter(({ tree }) => text(get(tree, "restartPolicy")) === "Always"),
    services,
    ingresses: [
      ...new Set(services.flatMap(({ name }) => index.ingresses.get(joined(namespace, name)) ?? [])),
    ],
    autoscaler: index.autoscalers.get(joined(namespace, object.kind, object.name))?.[0],
    budgets: selecting.filter(({ kind }) => kind === "PodDisruptionBudget"),
  };
}

function backendsOf(tree: Tree): readonly string[] {
  const backends = [
    get(tree, "spec", "defaultBackend"),
    ...items(get(tree, "spec", "rules")).flatMap((rule) =>
      items(get(rule, "http", "paths")).map((path) => get(path, "backend")),
    ),
  ];
  return backends.flatMap((backend) => {
    const name = text(get(backend, "service", "name")) ?? text(get(backend, "serviceName"));
    return name === undefined ? [] : [name];
  });
}

function toContainer(tree: Tree, init: boolean, annotations: ReadonlyMap<string, string>): PodContainer {
  return {
    name: text(get(tree, "name")) ?? "?",
    tree,
    at: firstLine(tree),
    image: text(get(tree, "image")),
    imageAt: get(tree, "image")?.at,
    ports: items(get(tree, "ports")).map((port) => ({
      name: text(get(port, "name")),
      port: number(get(port, "containerPort")),
    })),
    preStop: toPreStop(tree, annotations),
    readiness: toProbe(tree, "readinessProbe"),
    liveness: toProbe(tree, "livenessProbe"),
    startup: toProbe(tree, "startupProbe"),
    command: toArguments(get(tree, "command")),
    args: toArguments(get(tree, "args")),
    sidecar: init,
  };
}

/** A map's first line, not the whole of it. */
function firstLine(tree: Tree): Place {
  const { source, start } = tree.at;
  const { line } = position(source, start);
  const end = (source.starts[line] ?? source.text.length + 1) - 1;
  return { source, start, end: Math.max(start, Math.min(end, tree.at.end)) };
}

function toProbe(container: Tree, key: string): Probe | undefined {
  const tree = get(container, key);
  const at = keyAt(container, key);
  if (tree?.kind !== "map" || at === undefined) {
    return undefined;
  }
  const http = get(tree, "httpGet");
  const tcp = get(tree, "tcpSocket");
  const grpc = get(tree, "grpc");
  const kind = http ? "http" : tcp ? "tcp" : grpc ? "grpc" : get(tree, "exec") ? "exec" : "unknown";
  const headers = items(get(http, "httpHeaders")).map((header) => {
    const name = (text(get(header, "name")) ?? "").toLowerCase();
    return name === "host" ? `${name}:${text(get(header, "value"))}` : name;
  });
  return {
    tree,
    at,
    kind,
    path: text(get(http, "path")) ?? text(get(grpc, "service")),
    port: text(get(http ?? tcp ?? grpc, "port")),
    headers: headers.toSorted().join(),
  };
}

export function graceOf(pod: Pod): Time {
  return pod.grace === undefined || pod.graceAt === undefined
    ? { ms: 30_000, origin: { kind: "default", of: "Kubernetes" } }
    : { ms: pod.grace * 1000, origin: { kind: "file", at: pod.graceAt } };
}

/** The containers that a selecting Service sends to: those with a port it names, or all with ports, or the only one. */
export function servedContainers(pod: Pod): readonly PodContainer[] {
  if (pod.services.length === 0) {
    return [];
  }
  const targets = new Set(
    pod.services.flatMap((service) =>
      items(get(service.tree, "spec", "ports")).map(
        (port) => text(get(port, "targetPort")) ?? text(get(port, "port")) ?? "",
      ),
    ),
  );
  const named = pod.containers.filter(({ ports }) =>
    ports.some(({ name, port }) => targets.has(String(port)) || (name !== undefined && targets.has(name))),
  );
  return named.length > 0 ? named : pod.containers.length === 1 ? pod.containers : [];
}
