/** Each file parsed as what it is; what cannot be read becomes a problem with its place. */

import { type AppSource, readAppSource } from "../parse/app-budget.ts";
import { type Dockerfile, readDockerfile } from "../parse/dockerfile.ts";
import { type HaproxyFile, readHaproxy } from "../parse/haproxy.ts";
import { type NginxFile, readNginx } from "../parse/nginx.ts";
import { type PackageJson, readPackageJson } from "../parse/package-json.ts";
import { readUnit, type Unit } from "../parse/systemd.ts";
import { get, text, type Tree } from "../parse/tree.ts";
import { readYaml } from "../parse/yaml.ts";
import { place, type Source } from "../source.ts";
import type { WorkFile, Workspace } from "../workspace.ts";
import { type ComposeFile, join } from "./compose.ts";
import { type K8sObject, toObjects } from "./kubernetes.ts";
import type { FileProblem } from "./model.ts";
import { mergeNginx } from "./nginx-includes.ts";
import { ecosystemTree, ecsTasks, nomadTasks, pm2Apps, supervisorPrograms, type Task } from "./tasks.ts";

export interface Parsed {
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

export function parseAll(workspace: Workspace): Parsed {
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
  const merged = mergeNginx(parsed.nginx);
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
