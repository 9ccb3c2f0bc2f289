/** Which configuration a new connection meets: a page that a router which is reloaded serves under a path of ours. */

import { request } from "node:http";

export const GENERATION_PATH = "/.lastcall/generation";

/** What a new connection is told; null when nobody answers. */
export function generationAt(port: number): Promise<string | null> {
  return new Promise((resolve) => {
    const asked = request(
      { host: "127.0.0.1", port, path: GENERATION_PATH, agent: false, timeout: 1000 },
      (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => (text += part));
        answer.once("end", () => resolve(text));
        answer.once("error", () => resolve(null));
      },
    );
    asked.once("timeout", () => asked.destroy());
    asked.once("error", () => resolve(null));
    asked.end();
  });
}
