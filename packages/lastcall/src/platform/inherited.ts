/**
 * Listening sockets that a process was started with, by systemd (socket activation) or by `lastcall-takeover`: what the
 * environment says of them, where they listen, and which of them a `listen()` of the app means. Pure.
 */

/** May be given to `server.listen()` as it is: where there is an `fd`, Node looks at nothing else. */
export interface InheritedSocket {
  readonly fd: number;
  /** What whoever passed it calls it: `FileDescriptorName` of the socket unit. */
  readonly name: string;
  /** Where it listens; all null when the system does not show it. */
  readonly port: number | null;
  readonly host: string | null;
  readonly path: string | null;
}

export type SocketAddress = Omit<InheritedSocket, "fd" | "name">;

type Env = Readonly<Record<string, string | undefined>>;

/** systemd's protocol: the sockets begin behind the standard streams. */
const FIRST_FD = 3;

/** More than any unit has; beyond it the number is a lie. */
const MOST_FDS = 1024;

export type ListenVariables =
  | { readonly kind: "none" }
  | { readonly kind: "wrong"; readonly why: string }
  | { readonly kind: "told"; readonly fds: readonly { readonly fd: number; readonly name: string }[] };

/** Reads `LISTEN_PID`, `LISTEN_FDS` and `LISTEN_FDNAMES`, see sd_listen_fds(3). */
export function readListenVariables(env: Env, pid: number): ListenVariables {
  const { LISTEN_FDS: fds, LISTEN_PID: forPid, LISTEN_FDNAMES: names } = env;
  if (fds === undefined || fds === "") {
    return { kind: "none" };
  }
  const count = /^\d+$/.test(fds) ? Number(fds) : Number.NaN;
  if (!(count >= 1 && count <= MOST_FDS)) {
    return { kind: "wrong", why: `LISTEN_FDS is '${fds}', which is no number from 1 to ${MOST_FDS}.` };
  }
  if (forPid !== String(pid)) {
    return {
      kind: "wrong",
      why: `LISTEN_FDS is for process ${forPid ?? "(LISTEN_PID is not set)"}, and this is ${pid}: a wrapper in between, most likely.`,
    };
  }
  const named = (names ?? "").split(":");
  return {
    kind: "told",
    fds: Array.from({ length: count }, (_, n) => ({ fd: FIRST_FD + n, name: named[n] || "unknown" })),
  };
}

/** What an app gave to `listen()`. */
export interface AskedAddress {
  readonly port: number | null;
  readonly host: string | null;
  readonly path: string | null;
}

/** Reads the arguments as Node does; null when they bring a handle or a descriptor of their own, or nothing usable. */
export function askedAddress(args: readonly unknown[]): AskedAddress | null {
  const [first, second] = args;
  if (typeof first === "object" && first !== null) {
    const { fd, port, host, path } = first as Readonly<Record<string, unknown>>;
    if (fd !== undefined || "handle" in first || "_handle" in first) {
      return null;
    }
    if (port === undefined && !("port" in first)) {
      return typeof path === "string" ? { port: null, host: null, path } : null;
    }
    return atPort(port, host);
  }
  if (typeof first === "string" && !(Number(first) >= 0)) {
    return { port: null, host: null, path: first };
  }
  return atPort(typeof first === "function" ? 0 : first, second);
}

function atPort(port: unknown, host: unknown): AskedAddress | null {
  const number = Number(port ?? 0);
  return Number.isInteger(number) && number >= 0
    ? { port: number, host: typeof host === "string" ? host : null, path: null }
    : null;
}

/**
 * The socket that is meant: of the same path, or of the same port, whatever its address, for two sockets could not listen
 * there anyway; else the one that bears the port as its name, so that a unit may have `ListenStream=80` and
 * `FileDescriptorName=3000` for an app that listens on 3000.
 */
export function pickSocket<T extends InheritedSocket>(
  sockets: readonly T[],
  asked: AskedAddress,
): T | undefined {
  if (asked.path !== null) {
    return sockets.find(({ path }) => path === asked.path);
  }
  const samePort = sockets.filter(({ port }) => port === asked.port);
  return (
    samePort.find(({ host }) => host === asked.host) ??
    samePort[0] ??
    sockets.find(({ name }) => asked.port !== 0 && name === String(asked.port))
  );
}

/** `127.0.0.1:80`, `port 8080`, or a path. */
export function describeSocket({ port, host, path }: SocketAddress): string {
  if (path !== null) {
    return path;
  }
  if (port === null) {
    return "an address that the system does not show";
  }
  return host === null ? `port ${port}` : `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** The texts of `/proc/net/tcp`, `/proc/net/tcp6` and `/proc/net/unix`. */
export interface SocketTables {
  readonly tcp: string;
  readonly tcp6: string;
  readonly unix: string;
}

/** Where the socket of this inode listens; null when it is known and does not. */
export function findListener(inode: string, tables: SocketTables): SocketAddress | null {
  for (const table of [tables.tcp, tables.tcp6]) {
    const row = rowOf(table, 9, inode);
    if (row !== null) {
      const [host = "", port = ""] = (row[1] ?? "").split(":");
      return row[3] === "0A"
        ? { port: Number.parseInt(port, 16), host: readAddress(host), path: null }
        : null;
    }
  }
  const row = rowOf(tables.unix, 6, inode);
  if (row !== null) {
    // __SO_ACCEPTCON: somebody has called listen().
    const listens = (Number.parseInt(row[3] ?? "0", 16) & 0x1_0000) !== 0;
    return listens ? { port: null, host: null, path: row[7] ?? "" } : null;
  }
  return { port: null, host: null, path: null };
}

function rowOf(table: string, column: number, inode: string): readonly string[] | null {
  for (const line of table.split("\n")) {
    if (line.includes(inode)) {
      const row = line.trim().split(/\s+/);
      if (row[column] === inode) {
        return row;
      }
    }
  }
  return null;
}

/** Four or sixteen bytes, in words of the machine, which is little-endian wherever Node runs with systemd. */
function readAddress(hex: string): string {
  const bytes = (hex.match(/.{8}/g) ?? []).flatMap((word) =>
    (word.match(/../g) ?? []).map((byte) => Number.parseInt(byte, 16)).toReversed(),
  );
  if (bytes.length === 4) {
    return bytes.join(".");
  }
  const groups = Array.from({ length: 8 }, (_, n) =>
    (((bytes[2 * n] ?? 0) << 8) | (bytes[2 * n + 1] ?? 0)).toString(16),
  );
  return groups.every((group) => group === "0") ? "::" : groups.join(":");
}
