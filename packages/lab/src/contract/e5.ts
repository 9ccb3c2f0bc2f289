/** E5: whoever watches a terminal or a log sees what the process waits for. */

import type { Clause, Need } from "./clause.ts";
import { type Line } from "./copy.ts";
import { type Hearing, hearing, sinceT0 } from "./court.ts";
import { putInFlight } from "./moves.ts";

const NEEDS: readonly Need[] = [
  "routes.ordinary",
  "routes.slow",
  "settings.drainDelay",
  "settings.gracefulTimeout",
];
const GRACEFUL_TIMEOUT_MS = 2300;
const ADVICE =
  "While it waits, write a line a second to stderr: requests by route and age, tasks, the hook that runs.";

/** Not lines of the app, and not the record. */
function talk(lines: readonly Line[], t0Ms: number): readonly Line[] {
  return lines.filter((line) => line.from === "stderr" && line.atMs > t0Ms && !line.text.startsWith("{"));
}

export const clause: Clause = {
  id: "E5",
  level: "honest",
  title: "while it waits it says on what, at least once a second",
  needs: NEEDS,
  judge: (subject) =>
    hearing(subject, NEEDS, async (court: Hearing) => {
      const mode = subject.modes.hookHangs;
      const copy = await court.start({
        set: { drainDelay: 0, gracefulTimeout: GRACEFUL_TIMEOUT_MS, teardownTimeout: 1200 },
        ...(mode === undefined ? {} : { mode }),
      });
      await putInFlight(court, copy, court.target("slow", { seconds: 600 }));
      await putInFlight(court, copy, court.target("slow", { seconds: 601 }));
      if (subject.routes.abandonedTask !== undefined) {
        await copy.ask(court.target("abandonedTask", { seconds: 600, id: "receipt-42" }));
      }
      copy.signal();
      await court.exit(copy, 6000, ADVICE);
      const lines = talk(copy.lines, copy.t0Ms ?? 0);
      const path = court.target("slow").path.split("?")[0] ?? "";
      const about = lines.filter(
        (line) => line.text.includes(path) && /\b\d+(\.\d+)? ?m?s\b/.test(line.text),
      );
      court.measure("linesWhileWaiting", about.length);
      court.demand(
        about.length >= 2,
        `In ${GRACEFUL_TIMEOUT_MS} ms of waiting ${about.length} lines named the route ${path} and an age.`,
        { todo: ADVICE },
      );
      const atMs = about.map((line) => sinceT0(copy, line.atMs));
      const longest = Math.max(...[0, ...atMs].map((at, n) => (atMs[n] ?? at) - at));
      court.measure("longestSilenceMs", longest);
      // A second, the machine's slack, and the deadline's own end.
      court.demand(longest < 1500, `It was silent for ${longest} ms while it waited.`, {
        timing: true,
        todo: ADVICE,
      });
      if (subject.routes.abandonedTask !== undefined) {
        court.demand(
          lines.some((line) => line.text.includes("receipt-42")),
          "No line named the task it waited for.",
          { todo: ADVICE },
        );
      }
      if (mode !== undefined) {
        court.demand(
          lines.some((line) => /\bsecond\b/.test(line.text)),
          "No line named the teardown hook it waited for.",
          { todo: ADVICE },
        );
      }
    }),
};
