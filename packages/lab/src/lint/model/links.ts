/** What belongs together for certain: image names and build contexts, router files and the workloads behind them. */

import { readDockerfile } from "../parse/dockerfile.ts";
import type { HaproxyFile } from "../parse/haproxy.ts";
import type { NginxFile } from "../parse/nginx.ts";
import { get, items, text, type Tree } from "../parse/tree.ts";
import type { Source } from "../source.ts";
import { type ComposeService, join } from "./compose.ts";
import { type ImageContext, toImage } from "./images.ts";
import type { Router } from "./model.ts";
import type { Settings } from "./settings.ts";
import type { Image, Workload } from "./workload.ts";
import type { Links } from "./workloads.ts";

/** Image names that certainly come from a build context: Compose's `image` beside `build`, skaffold, the configuration. */
export function imageLinks(
  settings: Settings,
  services: readonly ComposeService[],
  skaffold: readonly Tree[],
  images: readonly Image[],
  context: ImageContext,
): Links["imageOf"] {
  const byContext = (folder: string, dockerfile?: string, target?: string): Image | undefined => {
    const path = join(folder, dockerfile ?? "Dockerfile");
    const image = images.find((one) => one.dockerfile.source.path === path);
    if (image !== undefined) {
      const own = image.dockerfile.folder === folder ? image.dockerfile : { ...image.dockerfile, folder };
      return own === image.dockerfile && target === undefined ? image : toImage(own, context, target);
    }
    // The context may lie outside the paths given: its Dockerfile is read all the same.
    const source = context.lookup(path);
    return source === undefined ? undefined : toImage(readDockerfile(source, folder), context, target);
  };
  const byName = new Map<string, Image | undefined>();
  for (const tree of skaffold) {
    for (const artifact of items(get(tree, "build", "artifacts"))) {
      const name = text(get(artifact, "image"));
      if (name !== undefined) {
        const folder = tree.at.source.path.split("/").slice(0, -1).join("/");
        const file = text(get(artifact, "docker", "dockerfile"));
        byName.set(untagged(name), byContext(join(folder, text(get(artifact, "context")) ?? "."), file));
      }
    }
  }
  for (const service of services) {
    if (service.image !== undefined && service.context !== undefined) {
      byName.set(untagged(service.image), byContext(service.context, service.dockerfile, service.target));
    }
  }
  for (const [name, folder] of settings.images) {
    byName.set(untagged(name), byContext(join("", folder)));
  }
  return {
    context: byContext,
    name: (reference) => byName.get(untagged(reference)),
  };
}

function untagged(reference: string): string {
  const plain = reference.replace(/@sha256:.*$/, "");
  const colon = plain.indexOf(":", plain.lastIndexOf("/") + 1);
  return colon === -1 ? plain : plain.slice(0, colon);
}

/** Router files and who is behind them: Compose services in whose file the configuration is mounted, or the configuration. */
export function routersOf(
  settings: Settings,
  services: readonly ComposeService[],
  workloads: readonly Workload[],
  files: readonly (NginxFile | HaproxyFile)[],
): readonly Router[] {
  return files.map(({ source }) => {
    const said = settings.routers.get(source.path);
    const mounting = services.filter(({ mounts }) =>
      mounts.some((mount) => source.path === mount || source.path.startsWith(`${mount}/`)),
    );
    const near = workloads.filter(({ service }) =>
      mounting.some(({ file, name }) => file === service?.file && name !== service.name),
    );
    const named = workloads.filter(({ name, members }) =>
      said?.some((one) => name.endsWith(` ${one}`) || members.some((member) => member.name === one)),
    );
    const behind = near.filter(({ service }) => mentions(source, service?.name ?? ""));
    return { path: source.path, workloads: said === undefined ? behind : named };
  });
}

function mentions(source: Source, name: string): boolean {
  const host = name.replaceAll(/[^\w-]/g, ".");
  return new RegExp(String.raw`(?:server\s+(?:\S+\s+)?|://)${host}(?=[:;/\s]|$)`, "m").test(source.text);
}
