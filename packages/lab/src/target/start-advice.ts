/** What is said of a service that did not come up: where it listens instead, and what to do about how it ended. */

import { listeningPorts } from "./listening.ts";

/** A sentence with a blank before it; nothing where the process table says nothing. */
export function whereItListens(group: number, wanted: number): string {
  const ports = listeningPorts(group);
  if (ports.includes(wanted)) {
    return ` It listens on port ${wanted}, but not on 127.0.0.1 (::1 is another address).`;
  }
  return ports.length === 0
    ? ""
    : ` It listens on port ${ports.join(" and ")}, not on ${wanted}, which PORT and {port} named.`;
}

const TAKEN = /EADDRINUSE|address already in use/i;

/** The next step for a service that ended before it was ready; `taken` and `otherwise` as the command says them. */
export function adviceOnEnd(
  exit: { readonly code: number | null },
  output: string,
  { taken, otherwise }: { readonly taken: string; readonly otherwise: string },
): string {
  if (TAKEN.test(output)) {
    return taken;
  }
  return exit.code === 0
    ? `A service that ends with 0 has put itself into the background: keep it in the foreground (pm2-runtime, nginx -g 'daemon off;', no --daemon, no &). ${otherwise}`
    : otherwise;
}
