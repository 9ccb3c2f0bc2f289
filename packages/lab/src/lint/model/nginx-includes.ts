/** nginx files that include one another, as one tree of directives each. */

import type { Directive, NginxFile } from "../parse/nginx.ts";
import { globPattern } from "../workspace.ts";
import { join } from "./compose.ts";

const MAX_INCLUDES = 200;

/** `include` replaced by what it names, where that is at hand; an included file is not a file of its own then. */
export function mergeNginx(files: readonly NginxFile[]): readonly NginxFile[] {
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
        const found = findIncluded(directive.args[0], folder, byPath).filter((path) => !open.includes(path));
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
): readonly string[] {
  const relative = join(folder, pattern.replace(/^\/etc\/nginx\//, ""));
  if (/[*?]/.test(pattern)) {
    const test = globPattern(relative);
    return [...known.keys()].filter((path) => test.test(path));
  }
  return known.has(relative) ? [relative] : [];
}
