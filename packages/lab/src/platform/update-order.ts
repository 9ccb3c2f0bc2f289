/** Whether an update went in the order that its service asks for: start-first or stop-first, task by task. Pure. */

import type { Restart } from "../verdict/verdict.ts";

export type UpdateOrder = "start-first" | "stop-first";

export interface OrderSeen {
  readonly order: UpdateOrder;
  readonly kept: number;
  readonly of: number;
  /** What was not kept, one phrase each. */
  readonly broken: readonly string[];
}

function brokenBy(restart: Restart, order: UpdateOrder): string | null {
  const { copy, signalMs, exitMs, replacement } = restart;
  if (replacement === null) {
    return `${copy} was stopped and nothing took its place`;
  }
  const upMs = replacement.readyMs ?? null;
  if (order === "start-first") {
    return upMs !== null && upMs <= signalMs
      ? null
      : `${copy} was told to stop before ${replacement.copy} was ready`;
  }
  return exitMs !== null && exitMs <= replacement.startedMs
    ? null
    : `${replacement.copy} was started before ${copy} had ended`;
}

export function orderSeen(restarts: readonly Restart[], order: UpdateOrder): OrderSeen {
  const broken = restarts.flatMap((restart) => brokenBy(restart, order) ?? []);
  return { order, kept: restarts.length - broken.length, of: restarts.length, broken };
}

export function orderInWords({ order, kept, of, broken }: OrderSeen): string {
  return `${order}: kept by ${kept} of ${of} tasks${broken.length === 0 ? "" : `; ${broken.join("; ")}`}`;
}
