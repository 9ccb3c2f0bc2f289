/**
 * A port on 127.0.0.1 that a child may listen on. It is taken from below the range that the system gives to outgoing
 * connections: a number from inside it could be in use by one of our own requests when the child comes to bind it.
 */

import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import { LabError } from "../errors.ts";

const LOWEST = 15_000;
const TRIES = 200;

function firstEphemeralPort(): number {
  try {
    const low = Number(readFileSync("/proc/sys/net/ipv4/ip_local_port_range", "utf8").trim().split(/\s+/)[0]);
    return Number.isInteger(low) && low > LOWEST + 1000 ? low : 32_768;
  } catch {
    return 32_768; // Not Linux. The usual beginnings are 49152 (macOS, Windows) and 32768.
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer();
    probe.once("error", () => resolve(false));
    probe.listen({ host: "127.0.0.1", port, exclusive: true }, () => probe.close(() => resolve(true)));
  });
}

/** Gives each port once: a stopped copy's number is not given to its replacement. */
export function portFinder(): () => Promise<number> {
  const given = new Set<number>();
  const high = firstEphemeralPort();
  return async () => {
    for (let tries = 0; tries < TRIES; tries += 1) {
      const port = LOWEST + Math.floor(Math.random() * (high - LOWEST));
      // One after the other: each try depends on the failure of the one before.
      if (!given.has(port) && (await isFree(port))) {
        given.add(port);
        return port;
      }
    }
    throw new LabError(
      "LAB_NO_PORT",
      `No free port was found on 127.0.0.1 in ${TRIES} tries between ${LOWEST} and ${high}.`,
      "Close some programs that listen there.",
    );
  };
}
