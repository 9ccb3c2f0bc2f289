/** One look at a deployed service: a GET over http or https, with its time, its fate and the instance that answered. */

import http from "node:http";
import https from "node:https";

export interface Look {
  /** When it should have been sent, when it was, and when it ended, on one clock. Latency counts from `dueMs`. */
  readonly dueMs: number;
  readonly sentMs: number;
  readonly endedMs: number;
  /** Null when no head came. */
  readonly status: number | null;
  /** The error's code; null for a whole answer. `TIMEOUT`, `EOF` for a body that ended early. */
  readonly error: string | null;
  /** How long the connection took; 0 for a pooled one, null when it never stood. */
  readonly connectMs: number | null;
  /** Who answered, where the answer says so. */
  readonly instance: string | null;
}

export interface Looker {
  /** Never rejects. */
  look(dueMs: number): Promise<Look>;
  close(): void;
}

export interface LookerOptions {
  readonly url: URL;
  /** Reuse connections, or a new one for each request. */
  readonly keepAlive: boolean;
  readonly timeoutMs: number;
  /** The header in which an instance says its name. */
  readonly instanceHeader: string;
  readonly now: () => number;
}

/** Of a body only the beginning is read for a name. */
const KEPT_BYTES = 2048;

function pidIn(body: string): string | null {
  try {
    const { pid } = JSON.parse(body) as { readonly pid?: unknown };
    return typeof pid === "number" || typeof pid === "string" ? String(pid) : null;
  } catch {
    return null; // Most bodies are no JSON with a pid.
  }
}

export function createLooker(options: LookerOptions): Looker {
  const { url, now, timeoutMs, instanceHeader } = options;
  const secure = url.protocol === "https:";
  const agent = new (secure ? https : http).Agent({ keepAlive: options.keepAlive });
  const request = secure ? https.request : http.request;
  return {
    look: (dueMs) =>
      new Promise((resolve) => {
        const sentMs = now();
        let connectMs: number | null = null;
        let status: number | null = null;
        let instance: string | null = null;
        const asked = request(url, {
          agent,
          headers: { "user-agent": "lastcall lag", ...(options.keepAlive ? {} : { connection: "close" }) },
        });
        const end = (error: string | null): void => {
          clearTimeout(timer);
          resolve({ dueMs, sentMs, endedMs: now(), status, error, connectMs, instance });
          if (error !== null) {
            asked.destroy();
          }
        };
        const timer = setTimeout(() => end("TIMEOUT"), timeoutMs);
        asked.once("socket", (socket) => {
          if (socket.connecting) {
            socket.once(secure ? "secureConnect" : "connect", () => (connectMs = now() - sentMs));
          } else {
            connectMs = 0;
          }
        });
        asked.on("error", (error: NodeJS.ErrnoException) => end(error.code ?? error.message));
        asked.once("response", (answer) => {
          status = answer.statusCode ?? null;
          const named = answer.headers[instanceHeader];
          let body = "";
          answer.setEncoding("utf8").on("data", (text: string) => {
            if (body.length < KEPT_BYTES) {
              body += text;
            }
          });
          answer.once("error", () => end("EOF"));
          answer.once("end", () => {
            instance = typeof named === "string" ? named : pidIn(body);
            end(answer.complete ? null : "EOF");
          });
        });
        asked.end();
      }),
    close: () => agent.destroy(),
  };
}
