/** The compose file of one copy: the user's own, with the ports and names that would keep several copies apart. Pure. */

import { parse, stringify } from "yaml";
import { parseDuration } from "../duration.ts";
import { LabError } from "../errors.ts";

type Fields = Readonly<Record<string, unknown>>;

export interface ComposeService {
  readonly name: string;
  readonly containerPort: number;
  /** `stop_grace_period`, or Compose's 10 s. */
  readonly gracePeriodMs: number;
  readonly stopSignal: string;
  readonly init: boolean;
  /** With the service published at this address and nowhere else. */
  readonly fileFor: (host: string, port: number) => string;
}

const DEFAULT_GRACE_MS = 10_000;

function fields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** `8080:80`, `127.0.0.1:8080:80/tcp`, `{target: 80}`, `80`: the port inside. */
function targetPort(entry: unknown): number | null {
  if (typeof entry === "number") {
    return entry;
  }
  if (typeof entry === "string") {
    const port = Number(/(\d+)(?:\/tcp)?$/.exec(entry)?.[1] ?? Number.NaN);
    return Number.isNaN(port) ? null : port;
  }
  const { target } = fields(entry);
  return typeof target === "number" ? target : null;
}

function portOf(name: string, service: Fields, given: number | null): number {
  const listed = [service["ports"], service["expose"]]
    .flatMap((list) => (Array.isArray(list) ? (list as unknown[]) : []))
    .map(targetPort)
    .filter((port) => port !== null);
  const ports = [...new Set(listed)];
  const [only] = ports;
  if (given !== null) {
    return given;
  }
  if (only === undefined || ports.length > 1) {
    throw new LabError(
      "LAB_OPTION",
      ports.length === 0
        ? `The service ${name} publishes no port.`
        : `The service ${name} publishes ${ports.length} ports: ${ports.join(", ")}.`,
      "Name the one that serves requests: --container-port N.",
    );
  }
  return only;
}

function chooseService(services: Fields, wanted: string | null): string {
  const names = Object.keys(services);
  if (wanted !== null && !names.includes(wanted)) {
    throw new LabError(
      "LAB_OPTION",
      `The compose file has no service ${wanted}.`,
      `It has ${names.join(", ")}.`,
    );
  }
  const [only] = names;
  if (wanted === null && (only === undefined || names.length > 1)) {
    throw new LabError(
      "LAB_OPTION",
      names.length === 0
        ? "The compose file has no service."
        : `The compose file has ${names.length} services: ${names.join(", ")}.`,
      "Name the one to restart: --service NAME.",
    );
  }
  return wanted ?? only ?? "";
}

/** Of Compose's durations only the forms that it writes itself: `8s`, `1m30s`, `500ms`. */
function graceOf(value: unknown): number {
  const parts = typeof value === "string" ? (value.match(/\d+(?:\.\d+)?(?:ms|s|m|h)/g) ?? []) : [];
  return parts.length === 0
    ? DEFAULT_GRACE_MS
    : parts.reduce((sum, part) => sum + (parseDuration(part) ?? 0), 0);
}

/** `text` is what `compose config` writes: one file, everything filled in. */
export function readCompose(
  text: string,
  wanted: string | null,
  containerPort: number | null,
): ComposeService {
  const file = fields(parse(text));
  const services = fields(file["services"]);
  const name = chooseService(services, wanted);
  const own = fields(services[name]);
  const port = portOf(name, own, containerPort);
  return {
    name,
    containerPort: port,
    gracePeriodMs: graceOf(own["stop_grace_period"]),
    stopSignal: typeof own["stop_signal"] === "string" ? own["stop_signal"] : "SIGTERM",
    init: own["init"] === true,
    fileFor: (host, hostPort) => {
      const others = Object.entries(services).map(([other, service]) => {
        // Each copy has a project of its own; fixed names and ports would collide.
        const {
          container_name: _name,
          ports: _ports,
          deploy: _deploy,
          scale: _scale,
          ...rest
        } = fields(service);
        return [other, other === name ? { ...rest, ports: [`${host}:${hostPort}:${port}`] } : rest] as const;
      });
      return stringify({ ...file, services: Object.fromEntries(others) });
    },
  };
}
