/** The address at which copies in containers are reached. */

import { createServer, isIPv4 } from "node:net";
import { docker } from "./docker.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** Whether it is an address of this machine. A bridge to which nothing is joined yet is in no list of interfaces. */
function isOurs(address: string): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: address, port: 0 }, () => probe.close(() => resolve(true)));
  });
}

/**
 * The address at which the copies publish their ports. To 127.0.0.1 Docker's own proxy answers, which takes a connection
 * also when nobody listens behind it: a closed door would look like a cut. To the bridge's address the kernel forwards. It
 * is used where it is an address of this machine (a Linux engine), else 127.0.0.1.
 */
export async function publishedHost(env: Environment): Promise<string> {
  const config = "{{range .IPAM.Config}}{{.Gateway}} {{.Subnet}}{{end}}";
  const told = await docker(env, "network", "inspect", "bridge", "--format", config);
  // An engine that chose the address itself may tell its network alone: it took the first one.
  const [, gateway, network] = /^(\S*) (\d+\.\d+\.\d+)\.\d+\//.exec(told) ?? [];
  const address = gateway === undefined || gateway === "" ? `${network ?? ""}.1` : gateway;
  return isIPv4(address) && (await isOurs(address)) ? address : "127.0.0.1";
}
