/** One attempt of the embedded router at a copy: what is told of it, and the class of its failure. */

import type { LogClass } from "./log-class.ts";

/** One attempt at an upstream, told in the answer's header as nginx's variables tell it. */
export interface Attempt {
  readonly address: string;
  status: number | null;
  connectMs: number | null;
  responseMs: number | null;
}

function seconds(ms: number | null): string {
  return ms === null ? "-" : (ms / 1000).toFixed(3);
}

/** `ADDRESSES|STATUSES|CONNECT TIMES|RESPONSE TIMES`; see `RequestRecord.upstream`. */
export function told(tried: readonly Attempt[]): string {
  const list = (text: (attempt: Attempt) => string): string => tried.map(text).join(", ");
  return [
    list((one) => one.address),
    list((one) => (one.status === null ? "-" : String(one.status))),
    list((one) => seconds(one.connectMs)),
    list((one) => seconds(one.responseMs)),
  ].join("|");
}

export class UpstreamTimeout extends Error {
  readonly code: string = "UPSTREAM_TIMEOUT";
}

const OWN_LIMITS = new Set(["EMFILE", "ENFILE", "EADDRNOTAVAIL", "ENOBUFS"]);

export function classOf(error: NodeJS.ErrnoException): LogClass {
  if (OWN_LIMITS.has(error.code ?? "")) {
    return "router-limit";
  }
  // llhttp's own codes: what came back is no HTTP.
  if (error.code?.startsWith("HPE_") === true) {
    return "no-http";
  }
  if (error.code === "ECONNREFUSED") {
    return "connect-refused";
  }
  if (error.code === "UPSTREAM_TIMEOUT" || error.code === "ETIMEDOUT") {
    return "timeout";
  }
  if (error.code === "ECONNRESET" || error.code === "EPIPE") {
    // Node gives an early clean end (FIN) the same code as a reset, but no system call failed.
    return error.syscall === undefined ? "upstream-closed" : "reset";
  }
  return "other";
}
