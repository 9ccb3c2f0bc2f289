/** A Compose service, ready for Swarm's rolling updates too. */

import { environment, short, type Sized, sumText } from "./numbers.ts";

export function compose(sized: Sized): string {
  const env = environment(sized).map(([key, value]) => `      ${key}: ${value}`);
  const check = `fetch('http://127.0.0.1:${sized.port}/readyz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))`;
  return `# ${sumText(sized)}
services:
  ${sized.name}:
    image: ${sized.image}
    stop_signal: SIGTERM
    stop_grace_period: ${short(sized.gracePeriodMs)}
    environment:
${env.join("\n")}
    ports:
      - "${sized.port}:${sized.port}"
    healthcheck:
      test: ["CMD", "node", "-e", "${check}"]
      interval: 2s
      timeout: 2s
      retries: 1
      start_period: ${short(Math.max(1000, Math.ceil((sized.startMs * 3) / 1000) * 1000))}
    deploy:
      replicas: 2
      update_config:
        order: start-first
        parallelism: 1
`;
}
