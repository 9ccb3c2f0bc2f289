/** One restart, from the moment an orchestrator decides on it to its replacement in rotation. */

import type { RolloutPlan } from "../scenario/plan.ts";
import type { Copy } from "../target/copy.ts";
import type { Rotation } from "./rotation.ts";
import type { Scope } from "./scope.ts";

/**
 * `parallel`: the signal and the removal start together and the router lags behind by the propagation, as in Kubernetes.
 * `remove-first`: the router is told, its lag is waited out, then the signal is sent. A router that asks for readiness is told
 * nothing: it takes the copy out by itself, and forgets it when it is gone.
 */
export async function restart(
  plan: Pick<RolloutPlan, "order" | "propagationMs" | "signal" | "gracePeriodMs" | "warmUpMs"> & {
    readonly router: Pick<RolloutPlan["router"], "removal">;
  },
  leaving: Copy,
  replace: () => Promise<Copy>,
  rotation: Rotation,
  scope: Scope,
): Promise<Copy> {
  const byReadiness = plan.router.removal === "readiness";
  const removed = async (): Promise<void> => {
    if (plan.order === "parallel") {
      await leaving.signalled;
    }
    await scope.sleep(plan.propagationMs);
    await rotation.remove(leaving.name);
  };
  if (plan.order === "remove-first") {
    await removed();
  }
  const replaced = async (): Promise<Copy> => {
    await leaving.stop(plan.signal, plan.gracePeriodMs);
    const next = await replace();
    if (plan.warmUpMs > 0) {
      await scope.sleep(plan.warmUpMs);
    }
    await rotation.add({ copy: next.name, host: next.host ?? "127.0.0.1", port: next.port });
    if (byReadiness) {
      await rotation.forget(leaving.name);
    }
    return next;
  };
  const [next] = await scope.orInterrupted(
    Promise.all([replaced(), plan.order === "parallel" && !byReadiness ? removed() : undefined]),
  );
  return next;
}
