/**
 * A server that shares its port by `reusePort` has an accept queue of its own: the kernel resets what waits in it when the
 * listener closes, whoever else listens on the port, unless it is told to hand such connections over. Pure.
 */

import { LastcallError } from "../errors.ts";
import type { HostFacts } from "../host.ts";

/** The file of the setting, Linux 5.14 and later, one per network namespace. */
export const MIGRATION_SETTING = "/proc/sys/net/ipv4/tcp_migrate_req";

/** Null where nothing is lost. `options` are those of `listen()`. */
export function reusePortProblem(
  options: { readonly reusePort?: boolean; readonly port?: number | string } | undefined,
  facts: Pick<HostFacts, "migratesConnections">,
): LastcallError | null {
  if (options?.reusePort !== true || facts.migratesConnections()) {
    return null;
  }
  return new LastcallError(
    "LASTCALL_REUSE_PORT",
    `The server on port ${options.port ?? "?"} listens with reusePort, and the kernel does not hand over the connections that wait for it when it closes (net.ipv4.tcp_migrate_req is not 1).`,
  );
}
