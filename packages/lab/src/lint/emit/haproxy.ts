/** HAProxy in front of two copies: its check notices the drain within the drain delay. */

import { short, type Sized, sumText } from "./numbers.ts";

export function haproxy(sized: Sized): string {
  const { name, port } = sized;
  // One failed check is enough, and it is asked for four times within the delay.
  const inter = Math.max(250, Math.min(2000, Math.floor(sized.drainDelayMs / 4)));
  return `# ${sumText(sized)}
# Stop HAProxy itself with SIGUSR1.
global
    hard-stop-after ${short(sized.gracefulTimeoutMs + 1000)}

defaults
    mode http
    timeout connect 2s
    timeout client ${short(sized.gracefulTimeoutMs)}
    timeout server ${short(sized.gracefulTimeoutMs)}
    option redispatch
    retries 2
    retry-on conn-failure 503

frontend web
    bind :80
    default_backend ${name}

backend ${name}
    option httpchk GET /readyz
    http-check expect status 200
    default-server check inter ${inter}ms fall 1 rise 2
    server ${name}-1 127.0.0.1:${port}
    server ${name}-2 127.0.0.1:${port + 1}
`;
}
