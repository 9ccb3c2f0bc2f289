/** Whether a service answers its routes at all, judged before any copy is touched: a wrong route is no lost request. */

import { LabError } from "../errors.ts";
import type { LedgerRecord, RequestRecord } from "../ledger/records.ts";
import type { RolloutPlan } from "../scenario/plan.ts";

const ENOUGH = 3;

function answerOf(record: RequestRecord): string {
  return record.fate === "failed" ? `${record.error} (${record.stage})` : String(record.status);
}

const WAIT_MS = 20_000;
const LOOK_MS = 100;

/**
 * Waits until requests of each method have ended, so that the baseline knows how long they take: a service whose requests take two
 * seconds is not slow. A rate that sends too few is not waited for.
 */
export async function baselineAnswers(
  plan: Pick<RolloutPlan, "ratePerSecond" | "timing">,
  methods: ReadonlySet<string>,
  records: readonly LedgerRecord[],
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  if ((plan.ratePerSecond * plan.timing.headMs) / 1000 < ENOUGH * methods.size * 2) {
    return;
  }
  const enough = (method: string): boolean =>
    records.filter((record) => record.kind === "request" && record.method === method).length >= ENOUGH;
  for (let waitedMs = 0; waitedMs < WAIT_MS && ![...methods].every(enough); waitedMs += LOOK_MS) {
    // One look after the other.
    await sleep(LOOK_MS);
  }
}

/** Throws `LAB_ROUTE_REFUSED` when not one request of a route has been answered well, and enough were sent. */
export function assertBaseline(plan: RolloutPlan, records: readonly LedgerRecord[]): void {
  const routes = new Map<string, (readonly [RequestRecord, string])[]>();
  for (const record of records) {
    if (record.kind === "request") {
      const name = `${record.method} ${record.template ?? ""}`;
      routes.set(name, [...(routes.get(name) ?? []), [record, answerOf(record)]]);
    }
  }
  for (const answers of routes.values()) {
    const [[first, said] = []] = answers;
    if (
      first !== undefined &&
      answers.length >= ENOUGH &&
      answers.every(([, answer]) => !/^[123]/.test(answer))
    ) {
      const { method, path } = first;
      const route = plan.load.mix !== null ? path : method === "GET" ? plan.routes.get : plan.routes.post;
      throw new LabError(
        "LAB_ROUTE_REFUSED",
        `${method} ${route ?? ""} failed ${answers.length} of ${answers.length} times before any copy was told to stop (${said}).`,
        first.webSocket !== undefined
          ? "Name a path at which the service opens a WebSocket."
          : plan.load.mix !== null
            ? "Correct the load's file, or let the service answer with a status below 400."
            : method === "GET"
              ? "Name a route that answers with a status below 400: --get /path."
              : "Name a route and a body that it accepts: --post /path --post-body JSON.",
      );
    }
  }
}
