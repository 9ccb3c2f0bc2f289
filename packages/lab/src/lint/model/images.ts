/** From a Dockerfile to the image: the last stage through its bases, the command that runs, and what the name tells. */

import type { AppSource } from "../parse/app-budget.ts";
import {
  type Argument,
  type DockerCommand,
  type Dockerfile,
  lastOf,
  type Stage,
} from "../parse/dockerfile.ts";
import type { ShellName } from "../parse/handover.ts";
import type { PackageJson } from "../parse/package-json.ts";
import { place, type Source } from "../source.ts";
import { type ChainContext, resolveArgv, shellText } from "./chain.ts";
import { programOf, type Link } from "./link.ts";
import { baseName } from "./runners.ts";
import { join } from "./compose.ts";
import { imageFacts, type ImageFacts } from "./image-facts.ts";
import type { EnvValue, Image, Program } from "./workload.ts";

export interface ImageContext {
  readonly lookup: (path: string) => Source | undefined;
  readonly packages: readonly PackageJson[];
  readonly sources: readonly AppSource[];
}

export function toImage(dockerfile: Dockerfile, context: ImageContext, target?: string): Image | undefined {
  const last =
    target === undefined
      ? dockerfile.stages.at(-1)
      : dockerfile.stages.find(({ name }) => name === target.toLowerCase());
  if (last === undefined) {
    return undefined;
  }
  const lineage = lineageOf(dockerfile, last);
  const base = imageFacts(lineage.at(-1)?.from ?? "");
  const facts = relinkedShell(lineage, base);
  const newest = (keyword: string): DockerCommand | undefined => {
    for (const stage of lineage) {
      const found = lastOf(stage, keyword);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  };
  const entrypoint = newest("ENTRYPOINT");
  const command = newest("CMD");
  const stop = newest("STOPSIGNAL");
  const packageJson = context.packages.find(({ folder }) => folder === dockerfile.folder);
  const home = dockerfile.source.path.split("/").slice(0, -1).join("/");
  const sources = sourcesBelow(dockerfile.folder, context, home);
  const image = {
    dockerfile,
    facts,
    at: last.at,
    entrypoint,
    command,
    stopSignal: stop === undefined ? undefined : { signal: normalSignal(stop.text), at: stop.textAt },
    healthcheck: newest("HEALTHCHECK"),
    packageJson,
    sources,
    environment: environmentOf(lineage),
  };
  const program = toProgram(image, lineage, context);
  return { ...image, program, entry: entryOf(program, dockerfile.folder, context) };
}

/** A stage and the stages it is built on, newest first. */
function lineageOf(dockerfile: Dockerfile, last: Stage): readonly Stage[] {
  const lineage = [last];
  for (let at: Stage | undefined = last; at !== undefined && lineage.length < 50;) {
    const { from }: Stage = at;
    const index = dockerfile.stages.indexOf(at);
    at = dockerfile.stages
      .slice(0, index)
      .findLast(({ name }) => name !== undefined && name === from.toLowerCase());
    if (at !== undefined) {
      lineage.push(at);
    }
  }
  return lineage;
}

/** A `RUN ln -s ... /bin/sh` changes the shell; `apk add bash` does not. */
function relinkedShell(lineage: readonly Stage[], base: ImageFacts): ImageFacts {
  for (const { instructions } of lineage) {
    for (const { keyword, text } of instructions) {
      if (keyword === "RUN" && /\bln\s+-\w*s\w*\s+\S+\s+\/bin\/sh\b|dpkg-reconfigure\s+dash/.test(text)) {
        const shell: ShellName = /bash\s+\/bin\/sh/.test(text) ? "bash" : "unknown";
        return { ...base, shell, shellFrom: "the image links /bin/sh anew" };
      }
    }
  }
  return base;
}

/**
 * Source files of a build context. A folder below it with a package.json of its own is another project, unless it is the one
 * that the Dockerfile stands in: a monorepo's services must not be given one another's budgets.
 */
export function sourcesBelow(
  folder: string,
  { sources, packages }: Pick<ImageContext, "sources" | "packages">,
  home: string = folder,
): readonly AppSource[] {
  const within = (path: string, root: string): boolean =>
    root === "" || path === root || path.startsWith(`${root}/`);
  const others = packages
    .map((one) => one.folder)
    .filter((root) => root !== folder && within(root, folder) && !within(home, root));
  return sources.filter(
    (one) => within(one.folder, folder) && !others.some((root) => within(one.folder, root)),
  );
}

export function chainContext(folder: string, facts: ImageFacts, context: ImageContext): ChainContext {
  return {
    shell: facts.shell,
    script: (path) => {
      // The path inside the image is not the path in the context: the name is what both share.
      const name = baseName(path);
      for (const candidate of [
        join(folder, path.replace(/^\//, "")),
        join(folder, name),
        join(folder, `docker/${name}`),
        join(folder, `scripts/${name}`),
        join(folder, `bin/${name}`),
      ]) {
        const found = context.lookup(candidate);
        if (found !== undefined) {
          return found;
        }
      }
      return undefined;
    },
    packageJson: context.packages.find((one) => one.folder === folder),
  };
}

function toProgram(
  image: Omit<Image, "program" | "entry">,
  lineage: readonly Stage[],
  context: ImageContext,
): Program | undefined {
  const { entrypoint, command, facts, dockerfile } = image;
  const main = entrypoint ?? command;
  if (main === undefined) {
    return undefined;
  }
  const chain = chainContext(dockerfile.folder, facts, context);
  let links: readonly Link[];
  let words: readonly Argument[] | undefined;
  if (main.words === undefined) {
    const { text, textAt } = trimmed(main);
    links = shellText({ text, at: textAt, exact: true }, textShell(lineage, facts), "text", chain);
  } else {
    const extra = entrypoint === undefined ? [] : cmdWords(command, lineage, entrypoint);
    words = [...main.words, ...extra];
    links = resolveArgv(words, chain);
  }
  return {
    name: main.keyword,
    at: main.at,
    chain: links,
    facts,
    image: undefined,
    platform: "image",
    pid1: true,
    words,
  };
}

/** `node server.js`: the file in the build context that has this name. */
function entryOf(program: Program | undefined, folder: string, context: ImageContext): Source | undefined {
  const found = program === undefined ? undefined : programOf(program.chain);
  const path =
    found?.name === "node" ? found.words.slice(1).find(({ text }) => !text.startsWith("-"))?.text : undefined;
  return path === undefined
    ? undefined
    : context.lookup(join(folder, path.startsWith("/") ? baseName(path) : path));
}

/** A CMD set in an older stage than the ENTRYPOINT is dropped by it. */
function cmdWords(
  command: DockerCommand | undefined,
  lineage: readonly Stage[],
  entrypoint: DockerCommand,
): readonly Argument[] {
  const stageOf = (wanted: DockerCommand): number =>
    lineage.findIndex(({ instructions }) => instructions.includes(wanted));
  if (command === undefined || stageOf(command) > stageOf(entrypoint)) {
    return [];
  }
  return (
    command.words ??
    ["/bin/sh", "-c", command.text].map((text) => ({ text, at: command.textAt, exact: false }))
  );
}

/** The shell of the text form: what SHELL says, else /bin/sh. */
function textShell(lineage: readonly Stage[], facts: ImageFacts): ShellName {
  for (const stage of lineage) {
    const shell = lastOf(stage, "SHELL")?.words?.[0]?.text;
    if (shell !== undefined) {
      const name = baseName(shell);
      return name === "bash" || name === "dash" || name === "ash"
        ? name
        : name === "sh"
          ? facts.shell
          : "unknown";
    }
  }
  return facts.shell;
}

function trimmed(command: DockerCommand): { text: string; textAt: DockerCommand["textAt"] } {
  const lead = command.text.length - command.text.trimStart().length;
  const text = command.text.trim();
  const start = command.textAt.start + lead;
  return { text, textAt: place(command.textAt.source, start, start + text.length) };
}

function environmentOf(lineage: readonly Stage[]): ReadonlyMap<string, EnvValue> {
  const found = new Map<string, EnvValue>();
  for (const { instructions } of lineage.toReversed()) {
    for (const { keyword, text, textAt } of instructions) {
      if (keyword === "ENV") {
        for (const match of text.matchAll(/(\w+)=("([^"]*)"|'([^']*)'|[^\s\\]+)/g)) {
          const start = textAt.start + match.index;
          const at = place(textAt.source, start, start + match[0].length);
          found.set(match[1] ?? "", { value: match[3] ?? match[4] ?? match[2] ?? "", at });
        }
      }
    }
  }
  return found;
}

const NUMBERS: Readonly<Record<string, string>> = {
  "1": "SIGHUP",
  "2": "SIGINT",
  "3": "SIGQUIT",
  "9": "SIGKILL",
  "10": "SIGUSR1",
  "12": "SIGUSR2",
  "15": "SIGTERM",
  "19": "SIGSTOP",
  "28": "SIGWINCH",
};

/** `term`, `15`, `SIGTERM` are one signal. */
export function normalSignal(text: string): string {
  const plain = text.trim().replaceAll(/["']/g, "").toUpperCase();
  return NUMBERS[plain] ?? (plain.startsWith("SIG") || plain === "" ? plain : `SIG${plain}`);
}
