/** Rolling restarts on the stage: the plans of `lastcall rollout`, run and judged as it does. */

import { mkdirSync } from "node:fs";
import path from "node:path";
import { judgeRow, type Row } from "../rollout/row.ts";
import { runRollout } from "../rollout/run.ts";
import { Interrupted } from "../rollout/scope.ts";
import type { RolloutPlan } from "../scenario/plan.ts";
import { judgeStream } from "../verdict/judge.ts";
import type { Stage } from "./stage.ts";

/** The row, run again while it is invalid and attempts are left. */
export async function playRow(stage: Stage, plan: RolloutPlan, name: string): Promise<Row> {
  const router = await stage.findNginx();
  for (let attempt = 1; ; attempt += 1) {
    const folder = path.join(stage.folder, attempt === 1 ? name : `${name}-${attempt}`);
    mkdirSync(folder, { recursive: true });
    // One after the other: a run that is invalid decides whether there is another.
    const { records, ended } = await runRollout(plan, {
      guardian: stage.guardian,
      router,
      folder,
      cwd: stage.folder,
      env: stage.env,
      interrupted: stage.interrupted,
      onRecord: () => undefined,
    });
    if (ended === "interrupted") {
      throw new Interrupted();
    }
    const row = judgeRow(plan, await judgeStream(records), folder);
    if (row.verdict.outcome !== "invalid" || attempt >= plan.attempts) {
      return row;
    }
    stage.tale.say(`${name}: ${row.why ?? "invalid"}. Once more.`);
  }
}
