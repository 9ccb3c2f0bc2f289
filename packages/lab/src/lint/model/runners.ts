/** Programs that start others for development, or several at once. */

import type { Argument } from "../parse/dockerfile.ts";

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}

export const DEV: ReadonlySet<string> = new Set(
  "nodemon ts-node-dev tsnd node-dev supervisor webpack-dev-server".split(" "),
);

export const MULTI: ReadonlySet<string> = new Set(
  "concurrently npm-run-all run-p run-s foreman honcho supervisord hivemind overmind s6-svscan runsvdir circusd".split(
    " ",
  ),
);

export function isDevMode(name: string, rest: readonly Argument[]): boolean {
  const words = rest.map(({ text }) => text);
  return (
    (name === "node" && words.includes("--watch")) ||
    (name === "tsx" && words[0] === "watch") ||
    (name === "next" && words[0] === "dev") ||
    (name === "nuxt" && words[0] === "dev") ||
    (name === "vite" && (words[0] === undefined || words[0] === "dev" || words[0].startsWith("--"))) ||
    (name === "flask" && words.includes("run")) ||
    (name === "uvicorn" && words.includes("--reload"))
  );
}

export function looksLikeScript(path: string): boolean {
  return !/\.\w+$/.test(baseName(path)) && /entrypoint|start|run|init|boot|launch/.test(baseName(path));
}
