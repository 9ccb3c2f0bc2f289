/** From files to the model: parse each file as what it is, then link what certainly belongs together. */

import { readAppSource, type AppSource } from "../parse/app-budget.ts";
import { readHaproxy, type HaproxyFile } from "../parse/haproxy.ts";
import { readDockerfile, type Dockerfile } from "../parse/dockerfile.ts";
import { type Directive, type NginxFile, readNginx } from "../parse/nginx.ts";
import { type PackageJson, readPackageJson } from "../parse/package-json.ts";
import { readUnit, type Unit } from "../parse/systemd.ts";
import { get, items, text, type Tree } from "../parse/tree.ts";
import { readYaml } from "../parse/yaml.ts";
import { place, position, type Source } from "../source.ts";
import { globPattern, type WorkFile, type Workspace } from "../workspace.ts";
import { type ComposeFile, type ComposeService, join, toServices } from "./compose.ts";
import { type ImageContext, toImage } from "./images.ts";
import { type K8sObject, toObjects, toPods } from "./kubernetes.ts";
import type { FileProblem, Model, Router } from "./model.ts";
import { ecosystemTree, ecsTasks, nomadTasks, pm2Apps, supervisorPrograms, type Task } from "./tasks.ts";
import type { Settings } from "./settings.ts";
import type { Image, Workload } from "./workload.ts";
import { composeWorkload, podWorkload, taskWorkload, unitWorkload, type Links } from "./workloads.ts";

interface Parsed {
  readonly dockerfiles: Dockerfile[];
  readonly packages: PackageJson[];
  readonly sources: AppSource[];
  readonly compose: ComposeFile[];
  readonly objects: K8sObject[];
  readonly units: Unit[];
  readonly nginx: NginxFile[];
  readonly haproxy: HaproxyFile[];
  readonly tasks: Task[];
  readonly skaffold: Tree[];
  readonly problems: FileProblem[];
}

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

function parseAll(workspace: Workspace): Parsed {
  const parsed: Parsed = {
    dockerfiles: [],
    packages: [],
    sources: [],
    compose: [],
    objects: [],
    units: [],
    nginx: [],
    haproxy: [],
    tasks: [],
    skaffold: [],
    problems: [],
  };
  const templates = new Map<string, { first: Source; count: number; at: number }>();
  for (const file of workspace.files) {
    parseOne(file, parsed, templates, workspace);
  }
  for (const [folder, { first, count, at }] of templates) {
    const message = `${count === 1 ? "This template was" : `${count} templates in ${folder === "" ? "this folder" : folder} were`} not checked: render first (\`helm template .\`, \`kustomize build\`) and check the output.`;
    parsed.problems.push({ rule: "file/template", message, at: place(first, at, at + 2) });
  }
  parsed.units.push(...unitsOf(workspace.files, parsed.problems));
  const merged = mergeNginx(parsed.nginx, workspace);
  parsed.nginx.splice(0, parsed.nginx.length, ...merged);
  return parsed;
}

type Templates = Map<string, { first: Source; count: number; at: number }>;

function parseOne(file: WorkFile, parsed: Parsed, templates: Templates, workspace: Workspace): void {
  const { source, folder } = file;
  const broken = (message: string, at = place(source, 0, 0)): void => {
    parsed.problems.push({ rule: "file/broken", message, at });
  };
  switch (file.kind) {
    case "dockerfile": {
      const dockerfile = readDockerfile(source, folder);
      if (dockerfile.stages.length === 0) {
        broken("The Dockerfile has no FROM.");
      } else {
        parsed.dockerfiles.push(dockerfile);
      }
      return;
    }
    case "source": {
      const app = readAppSource(source, folder);
      if (app !== undefined) {
        parsed.sources.push(app);
      }
      return;
    }
    case "nginx": {
      const read = readNginx(source);
      if (read.problem === undefined) {
        parsed.nginx.push(read);
      } else {
        broken(read.problem.message, read.problem.at);
      }
      return;
    }
    case "haproxy": {
      const read = readHaproxy(source);
      for (const problem of read.problems.slice(0, 1)) {
        broken(problem.message, problem.at);
      }
      parsed.haproxy.push(read);
      return;
    }
    case "supervisor": {
      const unit = readUnit(source.path, [source]);
      parsed.tasks.push(...(unit === undefined ? [] : supervisorPrograms(unit)));
      return;
    }
    case "pm2": {
      const tree = ecosystemTree(source);
      if (tree !== undefined) {
        parsed.tasks.push(...pm2Apps(tree, folder));
      }
      return;
    }
    case "unit":
    case "drop-in":
      return;
    case "yaml":
    case "json":
    case "package":
    case "config":
      parseTrees(file, parsed, templates, broken, workspace);
  }
}

/** What the file must be for its breakage to be our business. */
const OURS = /^\s*"?(apiVersion|services|containerDefinitions)"?\s*:/m;
const TEMPLATE = /:\s+\{\{-?\s*[.\w$]|^\s*\{\{-?\s*[.\w$]/m;

/** Jinja, ERB, Mako: not YAML either, before they are rendered. */
const OTHER_TEMPLATE = /\{%|<%|^[ \t]*%[ \t]*(if|for|end)/m;

function parseTrees(
  file: WorkFile,
  parsed: Parsed,
  templates: Templates,
  broken: (message: string, at?: ReturnType<typeof place>) => void,
  workspace: Workspace,
): void {
  const { source, folder, kind } = file;
  const ours = OURS.test(source.text) || kind === "package" || kind === "config";
  if (kind === "yaml" && !ours && !/^kind:|^build:/m.test(source.text)) {
    if (file.named) {
      parsed.problems.push({
        rule: "file/not-recognised",
        message: "Not a kind of file that lastcall reads: neither Kubernetes nor Compose.",
        at: place(source, 0, 0),
      });
    }
    return;
  }
  const read = readYaml(source);
  const [problem] = read.problems;
  const template = kind === "yaml" ? TEMPLATE.exec(source.text) : null;
  if (
    template !== null &&
    (problem !== undefined || /\.(Values|Release|Chart)\b|\binclude\s+"/.test(source.text))
  ) {
    const known = templates.get(folder);
    templates.set(
      folder,
      known === undefined
        ? { first: source, count: 1, at: template.index }
        : { ...known, count: known.count + 1 },
    );
    return;
  }
  if (problem !== undefined) {
    if (ours && OTHER_TEMPLATE.test(source.text)) {
      const at = OTHER_TEMPLATE.exec(source.text)?.index ?? 0;
      const known = templates.get(folder);
      templates.set(
        folder,
        known === undefined ? { first: source, count: 1, at } : { ...known, count: known.count + 1 },
      );
    } else if (ours) {
      broken(problem.message, problem.at);
    }
    return;
  }
  for (const tree of read.documents) {
    if (kind === "package") {
      parsed.packages.push(readPackageJson(source, folder, tree));
    } else if (kind === "config") {
      continue;
    } else if (get(tree, "services")?.kind === "map" && text(get(tree, "apiVersion")) === undefined) {
      parsed.compose.push({
        kind: "compose",
        source,
        folder,
        tree,
        variables: dotEnv(workspace.lookup(join(folder, ".env"))),
      });
    } else if ((text(get(tree, "apiVersion")) ?? "").startsWith("skaffold/")) {
      parsed.skaffold.push(tree);
    } else if (kind === "json" && get(tree, "containerDefinitions") !== undefined) {
      parsed.tasks.push(...ecsTasks(tree));
    } else if (kind === "json" && (get(tree, "Job") ?? get(tree, "TaskGroups")) !== undefined) {
      parsed.tasks.push(...nomadTasks(get(tree, "Job") ?? tree));
    } else {
      parsed.objects.push(...toObjects(tree));
    }
  }
}

function dotEnv(source: Source | undefined): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of (source?.text ?? "").split(/\r?\n/)) {
    const match = /^\s*(?:export\s+)?(\w+)\s*=\s*(["']?)(.*?)\2\s*$/.exec(line);
    if (match !== null) {
      found.set(match[1] ?? "", match[3] ?? "");
    }
  }
  return found;
}

function folders(files: readonly ComposeFile[]): readonly (readonly ComposeFile[])[] {
  const byFolder = new Map<string, ComposeFile[]>();
  for (const file of files) {
    byFolder.set(file.folder, [...(byFolder.get(file.folder) ?? []), file]);
  }
  return [...byFolder.values()];
}

/** Units with their drop-ins (`name.service.d`, and `name@.service.d` for templates) in name order. */
function unitsOf(files: readonly WorkFile[], problems: FileProblem[]): readonly Unit[] {
  const byName = new Map<string, { main: Source | undefined; dropIns: Source[] }>();
  for (const { kind, source, folder } of files) {
    if (kind === "unit" || kind === "drop-in") {
      const path = kind === "unit" ? source.path : folder.replace(/\.d$/, "");
      const known = byName.get(path) ?? { main: undefined, dropIns: [] };
      byName.set(
        path,
        kind === "unit" ? { ...known, main: source } : { ...known, dropIns: [...known.dropIns, source] },
      );
    }
  }
  return [...byName].flatMap(([path, { main, dropIns }]) => {
    const sorted = dropIns.toSorted((left, right) => (left.path < right.path ? -1 : 1));
    const unit = readUnit(
      path.slice(path.lastIndexOf("/") + 1),
      main === undefined ? sorted : [main, ...sorted],
    );
    for (const { message, at } of unit?.problems.slice(0, 1) ?? []) {
      problems.push({ rule: "file/broken", message, at });
    }
    return unit ?? [];
  });
}

const MAX_INCLUDES = 200;

/** `include` replaced by what it names, where that is at hand; an included file is not a file of its own then. */
function mergeNginx(files: readonly NginxFile[], workspace: Workspace): readonly NginxFile[] {
  const byPath = new Map(files.map((file) => [file.source.path, file]));
  const included = new Set<string>();
  const budget = { left: MAX_INCLUDES };
  const grow = (
    directives: readonly Directive[],
    folder: string,
    open: readonly string[],
  ): readonly Directive[] =>
    directives.flatMap((directive): readonly Directive[] => {
      if (directive.name === "include" && directive.args[0] !== undefined) {
        const found = findIncluded(directive.args[0], folder, byPath, workspace).filter(
          (path) => !open.includes(path),
        );
        return found.flatMap((path) => {
          budget.left -= 1;
          const file = byPath.get(path);
          if (budget.left < 0 || file === undefined) {
            return [];
          }
          included.add(path);
          return grow(file.directives, folder, [...open, path]);
        });
      }
      return [
        directive.block === undefined
          ? directive
          : { ...directive, block: grow(directive.block, folder, open) },
      ];
    });
  const grown = files.map((file) => {
    const folder = file.source.path.split("/").slice(0, -1).join("/");
    return { ...file, directives: grow(file.directives, folder, [file.source.path]) };
  });
  // A cycle of includes would leave no file: then each stays.
  const tops = grown.filter(({ source }) => !included.has(source.path));
  return tops.length === 0 ? grown : tops;
}

function findIncluded(
  pattern: string,
  folder: string,
  known: ReadonlyMap<string, NginxFile>,
  workspace: Workspace,
): readonly string[] {
  const relative = join(folder, pattern.replace(/^\/etc\/nginx\//, ""));
  if (/[*?]/.test(pattern)) {
    const test = globPattern(relative);
    return [...known.keys()].filter((path) => test.test(path));
  }
  void workspace;
  return known.has(relative) ? [relative] : [];
}

/** Image names that certainly come from a build context: Compose's `image` beside `build`, skaffold, the configuration. */
function imageLinks(
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

export function untagged(reference: string): string {
  const plain = reference.replace(/@sha256:.*$/, "");
  const colon = plain.indexOf(":", plain.lastIndexOf("/") + 1);
  return colon === -1 ? plain : plain.slice(0, colon);
}

/** Router files and who is behind them: Compose services in whose file the configuration is mounted, or the configuration. */
function routersOf(
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
  const found = new RegExp(
    String.raw`(?:server\s+(?:\S+\s+)?|://)${name.replaceAll(/[^\w-]/g, ".")}(?=[:;/\s]|$)`,
    "m",
  ).exec(source.text);
  return found !== null && position(source, found.index).line > 0;
}
