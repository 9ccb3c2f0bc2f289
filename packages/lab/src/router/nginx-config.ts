/** nginx's configuration as a pure function. Each line is there for a reason that an experiment depends on. */

import { GENERATION_PATH } from "./generation.ts";
import type { RouterOptions, Upstream } from "./router.ts";

export interface NginxFacts {
  readonly options: RouterOptions;
  /** The port that was found for it. */
  readonly port: number;
  /** Where the lab asks by HTTP/1.1, if the port speaks HTTP/2 and so nothing else. */
  readonly askPort?: number;
  readonly upstreams: readonly Upstream[];
  /** Counts the configurations of one run. */
  readonly generation: number;
  /** Only a master that runs as root may name its worker's user. */
  readonly root: boolean;
  readonly platform: string;
}

/** Unless it is asked for, none: nginx's default mark would keep a healthy copy out for 10 s and hide what we measure. */
function marks({ passive }: RouterOptions): string {
  return passive === null
    ? "max_fails=0"
    : `max_fails=${passive.maxFails} fail_timeout=${Math.max(1, Math.round(passive.failTimeoutMs / 1000))}s`;
}

function upstreamConnection({ webSockets, upstreamKeepAlive }: RouterOptions): readonly string[] {
  if (webSockets === true) {
    return [
      "      proxy_http_version 1.1;",
      "      proxy_set_header Upgrade $http_upgrade;",
      "      proxy_set_header Connection $lab_connection;",
    ];
  }
  return upstreamKeepAlive ? ["      proxy_http_version 1.1;", '      proxy_set_header Connection "";'] : [];
}

export function nginxConfig(facts: NginxFacts): string {
  const { options, port, upstreams, generation } = facts;
  const http2 = options.http2 !== undefined;
  const lines = [
    "daemon off;",
    "master_process on;",
    "worker_processes 1;",
    // The worker of a root master would be `nobody` and could not reach a folder of ours.
    ...(facts.root ? [`user root ${facts.platform === "darwin" ? "wheel" : "root"};`] : []),
    "pid nginx.pid;",
    // To a pipe of ours: each line is timed when it comes. nginx's own stamps have whole seconds.
    "error_log stderr notice;",
    // An old worker leaves when its requests have ended, or when none of them can be alive any more.
    "worker_shutdown_timeout 30s;",
    "events { worker_connections 4096; }",
    "http {",
    '  log_format lastcall escape=json \'{"at":$msec,"id":"$http_x_request_id","connection":$connection,"request":$connection_requests,"line":"$request","status":$status,"upstream":"$upstream_addr","upstream_status":"$upstream_status","connect_time":"$upstream_connect_time","upstream_time":"$upstream_response_time","completion":"$request_completion","bytes":$body_bytes_sent}\';',
    "  access_log access.log lastcall;",
    // Uploads of any size are the load's own choice; nginx's default refuses what is above 1 MB.
    "  client_max_body_size 0;",
    "  client_body_temp_path temp-body;",
    "  proxy_temp_path temp-proxy;",
    "  fastcgi_temp_path temp-fastcgi;",
    "  uwsgi_temp_path temp-uwsgi;",
    "  scgi_temp_path temp-scgi;",
    "  server_tokens off;",
    `  keepalive_timeout ${options.clientKeepAlive ? "75s" : "0"};`,
    "  keepalive_requests 100000;",
  ];
  if (upstreams.length > 0) {
    lines.push(
      "  upstream copies {",
      ...upstreams.map(({ host, port: to, copy }) => `    server ${host}:${to} ${marks(options)}; # ${copy}`),
      ...(options.upstreamKeepAlive ? ["    keepalive 16;"] : []),
      "  }",
    );
  }
  lines.push(
    // An upgrade is handed on; what else a client says of its connection is not.
    ...(options.webSockets === true
      ? [
          `  map $http_upgrade $lab_connection { default upgrade; '' '${options.upstreamKeepAlive ? "" : "close"}'; }`,
        ]
      : []),
    "  server {",
    `    listen 127.0.0.1:${port}${http2 ? " http2" : ""};`,
    ...(http2 ? [`    listen 127.0.0.1:${facts.askPort};`] : []),
    `    location = ${GENERATION_PATH} { access_log off; default_type text/plain; return 200 "${generation}"; }`,
    "    location / {",
    ...(upstreams.length === 0
      ? ["      return 502;"]
      : [
          "      proxy_pass http://copies;",
          "      proxy_connect_timeout 5s;",
          "      proxy_read_timeout 20s;",
          // `error timeout` is nginx's default, said aloud: never a POST that was sent, unless that is asked for.
          `      proxy_next_upstream ${options.retries ? `error timeout${options.retryPosts === true ? " non_idempotent" : ""}` : "off"};`,
          ...upstreamConnection(options),
          // What it tried, also on its own 502: the ledger takes it from there.
          '      add_header x-lastcall-upstream "$upstream_addr|$upstream_status|$upstream_connect_time|$upstream_response_time" always;',
        ]),
    "    }",
    "  }",
    "}",
  );
  return `${lines.join("\n")}\n`;
}
