/** Which request is the n-th: its template, its id and its bytes, all pure functions of the plan and n. */

import type { LoadPlan, RequestTemplate } from "./load.ts";
import { uniform } from "./random.ts";

export interface PlannedRequest {
  readonly id: string;
  readonly method: RequestTemplate["method"];
  readonly path: string;
}

export interface Mix {
  /** What the n-th request is (n counts from 0). */
  at(n: number): PlannedRequest;
  /** The n-th request as it goes over the wire, head and body. */
  wire(n: number): string;
}

type Plan = Pick<LoadPlan, "host" | "port" | "seed" | "mix" | "keepAlive" | "idPrefix">;

/** `r7-000042`: the 42nd request of the run with seed 7. Letters, digits and `-` only, so that it fits into any path. */
export function requestId(prefix: string, n: number): string {
  return `${prefix}-${String(n + 1).padStart(6, "0")}`;
}

interface Prepared {
  readonly template: RequestTemplate;
  readonly pathParts: readonly string[];
  wire(id: string): string;
}

function prepare(template: RequestTemplate, plan: Plan): Prepared {
  const pathParts = template.path.split("{id}");
  const bodyParts = template.body === null ? [] : template.body.split("{id}");
  const staticBytes = bodyParts.reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const host = plan.host.includes(":") ? `[${plan.host}]` : plan.host;
  const fixed = [
    ` HTTP/1.1\r\nhost: ${host}:${plan.port}\r\nuser-agent: lastcall\r\naccept: */*\r\n`,
    plan.keepAlive ? "" : "connection: close\r\n",
    template.body === null ? "" : "content-type: application/json\r\n",
  ].join("");
  const post = template.method === "POST";
  return {
    template,
    pathParts,
    wire: (id) => {
      const start = `${template.method} ${pathParts.join(id)}${fixed}x-request-id: ${id}\r\n`;
      if (!post && template.body === null) {
        return `${start}\r\n`;
      }
      const length = staticBytes + Math.max(0, bodyParts.length - 1) * id.length;
      const key = post ? `idempotency-key: ${id}\r\n` : "";
      return `${start}${key}content-length: ${length}\r\n\r\n${bodyParts.join(id)}`;
    },
  };
}

export function createMix(plan: Plan): Mix {
  const prefix = plan.idPrefix ?? `r${plan.seed}`;
  const prepared = plan.mix.map((template) => prepare(template, plan));
  const last = prepared.at(-1);
  if (last === undefined) {
    throw new RangeError("A load plan needs at least one request template.");
  }
  let total = 0;
  const upTo = plan.mix.map((template) => (total += template.weight));
  const choose = (n: number): Prepared => {
    if (prepared.length === 1) {
      return last;
    }
    const point = uniform(plan.seed, "mix", n) * total;
    return prepared[upTo.findIndex((edge) => point < edge)] ?? last;
  };
  return {
    at: (n) => {
      const { template, pathParts } = choose(n);
      const id = requestId(prefix, n);
      return { id, method: template.method, path: pathParts.join(id) };
    },
    wire: (n) => choose(n).wire(requestId(prefix, n)),
  };
}
