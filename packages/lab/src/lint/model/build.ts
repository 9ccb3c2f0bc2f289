/** From files to the model: parse each file as what it is, then link what certainly belongs together. */

import type { Workspace } from "../workspace.ts";
import { type ComposeFile, toServices } from "./compose.ts";
import { type ImageContext, toImage } from "./images.ts";
import { toPods } from "./kubernetes.ts";
import { imageLinks, routersOf } from "./links.ts";
import type { Model } from "./model.ts";
import { parseAll } from "./parse-files.ts";
import type { Settings } from "./settings.ts";
import { unitWorkload } from "./unit-workload.ts";
import type { Workload } from "./workload.ts";
import { composeWorkload, type Links, podWorkload, taskWorkload } from "./workloads.ts";

export function buildModel(workspace: Workspace, settings: Settings): Model {
  const parsed = parseAll(workspace);
  const context: ImageContext = {
    lookup: workspace.lookup,
    packages: parsed.packages,
    sources: parsed.sources,
  };
  const images = parsed.dockerfiles.flatMap((dockerfile) => toImage(dockerfile, context) ?? []);
  const services = folders(parsed.compose).flatMap((files) => toServices(files));
  const links: Links = {
    settings,
    context,
    images,
    imageOf: imageLinks(settings, services, parsed.skaffold, images, context),
  };
  const pods = toPods(parsed.objects);
  const workloads: Workload[] = [
    ...pods.map((pod) => podWorkload(pod, links)),
    ...services.map((service) => composeWorkload(service, links)),
    ...parsed.units.map((unit) => unitWorkload(unit, links)),
    ...parsed.tasks.map((task) => taskWorkload(task, links)),
  ];
  const programs = [
    ...images.flatMap(({ program }) => program ?? []),
    ...workloads.flatMap(({ members }) =>
      members.flatMap(({ program }) =>
        program === undefined || program.platform === "image" ? [] : [program],
      ),
    ),
  ];
  return {
    workloads,
    programs,
    images,
    objects: parsed.objects,
    pods,
    services,
    units: parsed.units,
    nginx: parsed.nginx,
    haproxy: parsed.haproxy,
    packages: parsed.packages,
    routers: routersOf(settings, services, workloads, [...parsed.nginx, ...parsed.haproxy]),
    settings,
    problems: [...workspace.problems, ...parsed.problems],
  };
}

function folders(files: readonly ComposeFile[]): readonly (readonly ComposeFile[])[] {
  const byFolder = new Map<string, ComposeFile[]>();
  for (const file of files) {
    byFolder.set(file.folder, [...(byFolder.get(file.folder) ?? []), file]);
  }
  return [...byFolder.values()];
}
