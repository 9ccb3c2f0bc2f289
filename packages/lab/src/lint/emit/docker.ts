/** A Dockerfile whose program is PID 1 and gets the signal. The time until SIGKILL is given when the container is run. */

import { environment, type Sized, sumText } from "./numbers.ts";

export function docker(sized: Sized): string {
  const env = environment(sized).map(([key, value]) => `${key}=${value}`);
  return `# ${sumText(sized)}
# Run it with: docker run --stop-timeout ${sized.gracePeriodMs / 1000} ${sized.image}
FROM node:22-bookworm-slim
ENV NODE_ENV=production
WORKDIR /srv/${sized.name}
COPY package.json package-lock.json ./
RUN npm ci --omit=dev
COPY . .
ENV PORT=${sized.port}
ENV ${env.join(" \\\n    ")}
USER node
EXPOSE ${sized.port}
STOPSIGNAL SIGTERM
CMD ["node", "server.js"]
`;
}
