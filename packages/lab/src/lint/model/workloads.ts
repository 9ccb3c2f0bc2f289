/** Each platform's things as workloads: the timer, the members, the command that really runs, the budget that is known. */

import type { Argument } from "../parse/dockerfile.ts";
import { get, items, text, truth } from "../parse/tree.ts";
import { goDuration } from "../time.ts";
import { resolveArgv } from "./chain.ts";
import type { Link } from "./link.ts";
import type { ComposeService } from "./compose.ts";
import { chainContext, type ImageContext, normalSignal, sourcesBelow } from "./images.ts";
import { imageFacts, UNKNOWN_IMAGE, type ImageFacts } from "./image-facts.ts";
import { graceOf, type Pod, type PodContainer, servedContainers } from "./kubernetes.ts";
import { partsOf } from "./parts.ts";
import type { BudgetSetting, Settings } from "./settings.ts";
import type { Task } from "./tasks.ts";
import type { EnvValue, Image, Member, Platform, Program, Timer, Workload } from "./workload.ts";

export interface Links {
  readonly settings: Settings;
  readonly context: ImageContext;
  readonly images: readonly Image[];
  readonly imageOf: {
    readonly context: (folder: string, dockerfile?: string, target?: string) => Image | undefined;
    readonly name: (reference: string) => Image | undefined;
  };
}

export function saidFor(links: Links, ...names: readonly string[]): BudgetSetting | undefined {
  for (const name of [...names, "*"]) {
    const found = links.settings.budgets.get(name);
    if (found !== undefined) {
      return found;
    }
  }
  return undefined;
}

interface Command {
  readonly platform: Platform;
  readonly entrypoint: readonly Argument[] | undefined;
  readonly command: readonly Argument[] | undefined;
  readonly image: Image | undefined;
  readonly facts: ImageFacts;
  readonly init: boolean;
  readonly pid1: boolean;
  readonly name: string;
}

/** What runs: the manifest's words over the image's. */
function programOf(given: Command, links: Links): Program | undefined {
  const { entrypoint, command, image, facts } = given;
  if (entrypoint === undefined && command === undefined && !given.init) {
    return image?.program;
  }
  const words =
    entrypoint === undefined
      ? [...(image?.entrypoint?.words ?? []), ...(command ?? image?.command?.words ?? [])]
      : [...entrypoint, ...(command ?? [])];
  const at = (entrypoint ?? command)?.[0]?.at ?? image?.program?.at;
  // A text-form ENTRYPOINT ignores the words; an unknown one may be anything.
  if (
    at === undefined ||
    (entrypoint === undefined && image?.entrypoint !== undefined && image.entrypoint.words === undefined)
  ) {
    return image?.program;
  }
  const folder = image?.dockerfile.folder ?? "\u0000";
  const chain = resolveArgv(words, chainContext(folder, facts, links.context));
  const init: readonly Link[] = given.init ? [{ kind: "init", name: "docker-init", group: false, at }] : [];
  const own = entrypoint !== undefined || command !== undefined;
  return {
    name: given.name,
    at,
    chain: [...init, ...chain],
    facts,
    image,
    platform: own ? given.platform : "image",
    pid1: given.pid1 && !given.init,
    words,
  };
}

export function stopSignalOf(
  own: { readonly signal: string; readonly at: Member["at"] } | undefined,
  image: Image | undefined,
  facts: ImageFacts,
): Member["stopSignal"] {
  if (own !== undefined) {
    return { signal: normalSignal(own.signal), origin: { kind: "file", at: own.at }, at: own.at };
  }
  if (image?.stopSignal !== undefined) {
    const { signal, at } = image.stopSignal;
    return { signal, origin: { kind: "file", at }, at };
  }
  const signal = facts.stopSignal;
  return signal === undefined
    ? undefined
    : { signal, origin: { kind: "default", of: facts.reference }, at: undefined };
}

export function podWorkload(pod: Pod, links: Links): Workload {
  const { object } = pod;
  const grace = graceOf(pod);
  const timer: Timer = {
    name: "terminationGracePeriodSeconds",
    ms: grace.ms,
    origin: grace.origin,
    at: pod.graceAt ?? object.at,
  };
  const shared = truth(get(pod.spec, "shareProcessNamespace")) === true;
  return {
    platform: "kubernetes",
    name: `${object.kind} ${object.name}`,
    at: object.at,
    timer,
    pod,
    members: pod.containers.map((container) => podMember(container, pod, links, !shared)),
  };
}

/** The container that a budget given for the workload is about; sidecars have their own, under their own name. */
function isMain(container: PodContainer, pod: Pod): boolean {
  const named = pod.containers.find(({ name }) => name === pod.object.name);
  const [served] = servedContainers(pod);
  return container === (named ?? served ?? pod.containers[0]);
}

function podMember(container: PodContainer, pod: Pod, links: Links, pid1: boolean): Member {
  const image = container.image === undefined ? undefined : links.imageOf.name(container.image);
  const facts = image?.facts ?? (container.image === undefined ? UNKNOWN_IMAGE : imageFacts(container.image));
  const program = programOf(
    {
      platform: "kubernetes",
      entrypoint: container.command,
      command: container.args,
      image,
      facts,
      init: false,
      pid1,
      name: container.name,
    },
    links,
  );
  const environment = new Map<string, EnvValue>(image?.environment);
  for (const item of items(get(container.tree, "env"))) {
    const value = text(get(item, "value"));
    if (value !== undefined) {
      environment.set(text(get(item, "name")) ?? "", { value, at: item.at });
    }
  }
  const stop = get(container.tree, "lifecycle", "stopSignal");
  const known =
    container.command === undefined && container.args !== undefined && image === undefined
      ? undefined
      : program;
  return {
    name: container.name,
    at: container.at,
    facts,
    image,
    program: known,
    environment,
    container,
    sources: image?.sources ?? [],
    parts: partsOf({
      said: isMain(container, pod)
        ? saidFor(links, container.name, `${pod.object.kind} ${pod.object.name}`, pod.object.name)
        : links.settings.budgets.get(container.name),
      environment,
      sources: image?.sources ?? [],
      chain: known?.chain ?? [],
    }),
    stopSignal: stopSignalOf(
      stop === undefined ? undefined : { signal: text(stop) ?? "", at: stop.at },
      image,
      facts,
    ),
  };
}

export function composeWorkload(service: ComposeService, links: Links): Workload {
  const { tree, name } = service;
  const stop = get(tree, "stop_grace_period");
  const written = text(stop);
  const ms = written === undefined ? undefined : goDuration(written);
  const timer: Timer =
    stop === undefined
      ? { name: "stop_grace_period", ms: 10_000, origin: { kind: "default", of: "Compose" }, at: service.at }
      : {
          name: "stop_grace_period",
          ms: ms ?? Number.NaN,
          origin: { kind: "file", at: stop.at },
          at: stop.at,
        };
  const image =
    service.context === undefined
      ? service.image === undefined
        ? undefined
        : links.imageOf.name(service.image)
      : links.imageOf.context(service.context, service.dockerfile, service.target);
  const facts = image?.facts ?? (service.image === undefined ? UNKNOWN_IMAGE : imageFacts(service.image));
  const init = truth(get(tree, "init")) === true;
  const program = programOf(
    {
      platform: "compose",
      entrypoint: service.entrypoint,
      command: service.command,
      image,
      facts,
      init,
      pid1: true,
      name,
    },
    links,
  );
  const environment = new Map([...(image?.environment ?? []), ...service.environment]);
  const signal = get(tree, "stop_signal");
  return {
    platform:
      get(tree, "deploy", "update_config") === undefined && get(tree, "deploy", "mode") === undefined
        ? "compose"
        : "swarm",
    name: `service ${name}`,
    at: service.at,
    // A duration that Compose itself refuses is no timer.
    timer: Number.isNaN(timer.ms) ? undefined : timer,
    service,
    members: [
      {
        name,
        at: service.at,
        facts,
        image,
        program,
        environment,
        sources: image?.sources ?? [],
        parts: partsOf({
          said: saidFor(links, name),
          environment,
          sources: image?.sources ?? [],
          chain: program?.chain ?? [],
        }),
        stopSignal: stopSignalOf(
          signal === undefined ? undefined : { signal: text(signal) ?? "", at: signal.at },
          image,
          facts,
        ),
      },
    ],
  };
}

export function taskWorkload(task: Task, links: Links): Workload {
  const image = task.image === undefined ? undefined : links.imageOf.name(task.image);
  const facts = image?.facts ?? (task.image === undefined ? UNKNOWN_IMAGE : imageFacts(task.image));
  const program = programOf(
    {
      platform: task.platform,
      entrypoint: task.entrypoint,
      command: task.command,
      image,
      facts,
      init: task.init,
      pid1: task.platform === "ecs" || task.platform === "nomad",
      name: task.name,
    },
    links,
  );
  const environment = new Map([...(image?.environment ?? []), ...task.environment]);
  const own = links.context.sources.filter(({ source }) => source.path === task.script);
  const below = task.folder === undefined ? [] : sourcesBelow(task.folder, links.context);
  const sources = image?.sources ?? (own.length > 0 ? own : below);
  const timer =
    task.capMs !== undefined && task.timer.ms > task.capMs
      ? { ...task.timer, ms: task.capMs, writtenMs: task.timer.ms }
      : task.timer;
  return {
    platform: task.platform,
    name: `${task.label} ${task.name}`,
    at: task.at,
    timer,
    members: [
      {
        name: task.name,
        at: task.at,
        facts,
        image,
        program,
        environment,
        sources,
        parts: partsOf({
          said: saidFor(links, task.name),
          environment,
          sources,
          chain: program?.chain ?? [],
        }),
        stopSignal: stopSignalOf(task.stopSignal, image, facts),
      },
    ],
  };
}
