/** Which request is the n-th: its template, its id and its bytes, all pure functions of the plan and n. */

import type { LoadPlan, RequestTemplate, WebSocketTalk } from "./load.ts";
import { uniform } from "./random.ts";
import { prepareUpload, type PreparedUpload } from "./upload.ts";

export interface PlannedRequest {
  readonly id: string;
  readonly method: RequestTemplate["method"];
  readonly path: string;
  /** The template's name; null where it has none. */
  readonly name: string | null;
  /** Null: HTTP/1.1. */
  readonly protocol: "h2" | null;
}

/** What a client needs beside the head. */
export interface Outgoing {
  /** A connection of its own. */
  readonly fresh: boolean;
  readonly upload: PreparedUpload | null;
  readonly eventsForMs: number | null;
  readonly webSocket: WebSocketTalk | null;
}

/** For a client that writes its own head. */
export interface StructuredRequest extends PlannedRequest, Outgoing {
  readonly headers: Readonly<Record<string, string>>;
  /** Null: none, or that of the upload. */
  readonly body: string | null;
}

export interface Mix {
  /** What the n-th request is (n counts from 0). `again`: a WebSocket that comes back for so many times; default 0. */
  at(n: number, again?: number): PlannedRequest;
  /** The n-th request as it goes over the wire, head and body; where the body is an upload, its head alone. */
  wire(n: number): string;
  outgoing(n: number): Outgoing;
  structured(n: number, again?: number): StructuredRequest;
}

type Plan = Pick<LoadPlan, "host" | "port" | "seed" | "mix" | "keepAlive" | "idPrefix">;

/** `r7-000042`: the 42nd request of the run with seed 7. Letters, digits and `-` only, so that it fits into any path. */
export function requestId(prefix: string, n: number): string {
  return `${prefix}-${String(n + 1).padStart(6, "0")}`;
}

interface Prepared extends Outgoing {
  readonly template: RequestTemplate;
  readonly pathParts: readonly string[];
  readonly bodyParts: readonly string[] | null;
  /** Those that are the same for all of them. */
  readonly headers: Readonly<Record<string, string>>;
  wire(id: string): string;
}

function headersOf(
  template: RequestTemplate,
  fresh: boolean,
  upload: PreparedUpload | null,
): Readonly<Record<string, string>> {
  return {
    "user-agent": "lastcall",
    accept: template.eventsForMs === undefined ? "*/*" : "text/event-stream",
    ...(fresh ? { connection: "close" } : {}),
    ...(template.body === null ? {} : { "content-type": "application/json" }),
    ...(upload === null
      ? {}
      : {
          "content-type": "application/octet-stream",
          "content-digest": upload.digest,
          ...(upload.chunked
            ? { "transfer-encoding": "chunked" }
            : { "content-length": String(upload.body.length) }),
        }),
  };
}

function prepare(template: RequestTemplate, plan: Plan): Prepared {
  const pathParts = template.path.split("{id}");
  const bodyParts = template.body === null ? null : template.body.split("{id}");
  const staticBytes = (bodyParts ?? []).reduce((sum, part) => sum + Buffer.byteLength(part), 0);
  const host = plan.host.includes(":") ? `[${plan.host}]` : plan.host;
  const fresh = !plan.keepAlive || template.connection === "fresh";
  const upload = template.upload === undefined ? null : prepareUpload(template.upload);
  const headers = headersOf(template, fresh, upload);
  const fixed = ` HTTP/1.1\r\nhost: ${host}:${plan.port}\r\n${Object.entries(headers)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}`;
  const post = template.method === "POST";
  return {
    template,
    pathParts,
    bodyParts,
    headers,
    fresh,
    upload,
    eventsForMs: template.eventsForMs ?? null,
    webSocket: template.webSocket ?? null,
    wire: (id) => {
      const key = post ? `idempotency-key: ${id}\r\n` : "";
      const start = `${template.method} ${pathParts.join(id)}${fixed}x-request-id: ${id}\r\n${key}`;
      if (upload !== null || (!post && bodyParts === null)) {
        return `${start}\r\n`;
      }
      const parts = bodyParts ?? [];
      const length = staticBytes + Math.max(0, parts.length - 1) * id.length;
      return `${start}content-length: ${length}\r\n\r\n${parts.join(id)}`;
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
  const at = (n: number, again = 0): PlannedRequest => {
    const { template, pathParts } = choose(n);
    const first = requestId(prefix, n);
    const id = again === 0 ? first : `${first}-again${again}`;
    const { method, name = null, protocol = null } = template;
    return { id, method, path: pathParts.join(id), name, protocol };
  };
  return {
    at,
    wire: (n) => choose(n).wire(requestId(prefix, n)),
    outgoing: choose,
    structured: (n, again) => {
      const planned = at(n, again);
      const { fresh, upload, eventsForMs, webSocket, headers, bodyParts, template } = choose(n);
      return {
        ...planned,
        fresh,
        upload,
        eventsForMs,
        webSocket,
        headers: {
          ...headers,
          "x-request-id": planned.id,
          ...(template.method === "POST" ? { "idempotency-key": planned.id } : {}),
        },
        body: bodyParts === null ? null : bodyParts.join(planned.id),
      };
    },
  };
}
