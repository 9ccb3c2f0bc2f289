// The standalone build of a Next.js application (nextjs.org/docs/app/api-reference/config/next-config-js/output).
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

export default {
  output: "standalone",
  outputFileTracingRoot: root,
  turbopack: { root },
};
