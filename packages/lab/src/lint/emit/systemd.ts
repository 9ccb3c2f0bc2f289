/** A unit. Its stop has no router that is told: the drain delay is for those that poll. */

import { environment, short, type Sized, sumText } from "./numbers.ts";

export function systemd(sized: Sized): string {
  const env = environment(sized).map(([key, value]) => `Environment=${key}=${value}`);
  return `# ${sumText(sized)}
[Unit]
Description=${sized.name}
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=/usr/bin/node /srv/${sized.name}/server.js
Environment=PORT=${sized.port}
${env.join("\n")}
KillSignal=SIGTERM
KillMode=mixed
TimeoutStartSec=${short(Math.max(5000, Math.ceil((sized.startMs * 3) / 1000) * 1000))}
TimeoutStopSec=${short(sized.gracePeriodMs)}
Restart=on-failure

[Install]
WantedBy=multi-user.target
`;
}
