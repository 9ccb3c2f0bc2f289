/** HAProxy's configuration as a pure function. Servers are not in it: they come and go by the runtime socket. */

import type { RouterOptions, Upstream } from "./router.ts";

export const BACKEND = "copies";

export interface HaproxyFacts {
  readonly options: RouterOptions;
  readonly port: number;
  /** The runtime socket. */
  readonly socket: string;
}

/** Layer 4: a client's connection is one to a copy, and no request is seen in it. */
export function isLayer4({ pooledAtRemoval }: Pick<RouterOptions, "pooledAtRemoval">): boolean {
  return pooledAtRemoval !== "closed-when-idle";
}

const REQUEST_LINE =
  '{"at":%[date(0,ms)],"id":"%[var(txn.id),json(utf8s)]","request":"%[var(txn.request),json(utf8s)]","status":%ST,"server":"%s","termination":"%ts","retries":"%rc","waitMs":%Tw,"connectMs":%Tc,"responseMs":%Tr,"activeMs":%Ta,"bytes":%B}';
const CONNECTION_LINE =
  '{"at":%[date(0,ms)],"server":"%s","termination":"%ts","retries":"%rc","waitMs":%Tw,"connectMs":%Tc,"activeMs":%Tt,"bytes":%B}';

export function haproxyConfig({ options, port, socket }: HaproxyFacts): string {
  const layer4 = isLayer4(options);
  const lines = [
    "global",
    // Access lines to a file, which never refuses one; what happens to the servers to a pipe, so that it is timed when it comes.
    "  log stdout len 8192 format raw local0 info",
    "  log stderr len 2048 format raw local1 notice",
    `  stats socket ${socket} mode 600 level admin`,
    "  stats timeout 1m",
    "  maxconn 4096",
    // As nginx's one worker.
    "  nbthread 1",
    "defaults",
    `  mode ${layer4 ? "tcp" : "http"}`,
    "  log global",
    "  timeout connect 5s",
    "  timeout client 75s",
    "  timeout server 20s",
    // Of a WebSocket, once it stands.
    ...(options.webSockets === true && !layer4 ? ["  timeout tunnel 1h"] : []),
    "frontend in",
    // Beside HTTP/1.1 it knows HTTP/2 by the client's first bytes.
    `  bind 127.0.0.1:${port}${options.http2 === "only" && !layer4 ? " proto h2" : ""}`,
    `  log-format '${layer4 ? CONNECTION_LINE : REQUEST_LINE}'`,
    `  default_backend ${BACKEND}`,
  ];
  if (!layer4) {
    lines.push(
      "  timeout http-request 30s",
      "  timeout http-keep-alive 75s",
      "  http-request set-var(txn.id) req.hdr(x-request-id)",
      '  http-request set-var-fmt(txn.request) "%[method] %[url]"',
      // Whom it asked last, also on its own 502: a 502 of HAProxy's is one after the connection was made.
      '  http-after-response set-header x-lastcall-upstream "%s|%[status]|0|-"',
      ...(options.clientKeepAlive
        ? []
        : ["  http-after-response set-header connection close unless { status 101 }"]),
    );
  }
  lines.push(`backend ${BACKEND}`, "  balance roundrobin");
  if (!layer4) {
    lines.push(
      `  http-reuse ${options.upstreamKeepAlive ? "always" : "never"}`,
      ...(options.upstreamKeepAlive ? [] : ["  option http-server-close"]),
    );
  }
  if (options.retries) {
    lines.push("  retries 3", "  option redispatch 1");
    if (!layer4) {
      // nginx's `error timeout`, said in HAProxy's words: what was never sent, and what was if it is no POST.
      lines.push(
        "  retry-on conn-failure empty-response response-timeout",
        ...(options.retryPosts === true ? [] : ["  http-request disable-l7-retry if { method POST }"]),
      );
    }
  } else {
    lines.push("  retries 0");
  }
  if (options.removal === "readiness") {
    lines.push(
      "  option httpchk",
      `  http-check send meth GET uri ${options.health.path} ver HTTP/1.1 hdr Host 127.0.0.1`,
      "  http-check expect status 200",
      `  timeout check ${Math.max(1000, options.health.intervalMs)}ms`,
    );
  }
  return `${lines.join("\n")}\n`;
}

export function serverName({ host, port }: Upstream): string {
  // HAProxy logs a server's name also where it had no connection to it; so the name is the address.
  return `${host}:${port}`;
}

/** The commands by which a server comes into rotation. */
export function addCommands(options: RouterOptions, upstream: Upstream, known: boolean): readonly string[] {
  const name = serverName(upstream);
  const { removal, pooledAtRemoval, health, passive } = options;
  const checked = removal === "readiness";
  const words = [
    ...(isLayer4(options) || !options.upstreamKeepAlive ? [] : ["pool-max-conn 16"]),
    ...(pooledAtRemoval === "cut" ? ["on-marked-down shutdown-sessions"] : []),
    ...(checked
      ? [`check inter ${health.intervalMs}ms fall ${health.fall ?? 2} rise ${health.rise ?? 1}`]
      : []),
    ...(passive === null
      ? []
      : [
          `observe ${isLayer4(options) ? "layer4" : "layer7"} error-limit ${passive.maxFails} on-error mark-down`,
          // Out for as long as the mark is to last: the next check lets it in.
          `downinter ${passive.failTimeoutMs}ms`,
        ]),
  ];
  return [
    ...(known ? [] : [`add server ${BACKEND}/${name} ${name} ${words.join(" ")}`.trimEnd()]),
    ...(checked && !known ? [`enable health ${BACKEND}/${name}`] : []),
    `set server ${BACKEND}/${name} state ready`,
  ];
}

/** The commands by which it goes. */
export function removeCommands(options: RouterOptions, upstream: Upstream): readonly string[] {
  const name = `${BACKEND}/${serverName(upstream)}`;
  switch (options.pooledAtRemoval) {
    case "pinned":
      return [`set server ${name} state drain`];
    case "cut":
      return [`set server ${name} state maint`, `shutdown sessions server ${name}`];
    case "closed-when-idle":
      return [`set server ${name} state maint`];
  }
}
