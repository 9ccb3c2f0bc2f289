/** nginx in front of two copies: refusals go to the other copy, old workers leave before they are killed. */

import { short, type Sized, sumText } from "./numbers.ts";

export function nginx(sized: Sized): string {
  const { name, port } = sized;
  return `# ${sumText(sized)}
# Stop nginx itself with SIGQUIT.
worker_processes auto;
worker_shutdown_timeout ${short(sized.gracefulTimeoutMs + 1000)};

events {
  worker_connections 1024;
}

http {
  upstream ${name} {
    server 127.0.0.1:${port} max_fails=1 fail_timeout=${short(Math.max(1000, sized.drainDelayMs))};
    server 127.0.0.1:${port + 1} max_fails=1 fail_timeout=${short(Math.max(1000, sized.drainDelayMs))};
    keepalive 32;
  }

  server {
    listen 80;

    location / {
      proxy_pass http://${name};
      proxy_http_version 1.1;
      proxy_set_header Host $host;
      proxy_set_header Connection "";
      proxy_connect_timeout 2s;
      proxy_read_timeout ${short(sized.gracefulTimeoutMs)};
      # A refused connection and a 503 of a draining copy go to the other one; a POST that was sent is not repeated.
      proxy_next_upstream error timeout http_503;
      proxy_next_upstream_tries 2;
    }
  }
}
`;
}
