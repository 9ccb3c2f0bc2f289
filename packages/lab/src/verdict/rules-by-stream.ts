/** Rules for what is open for long: event streams and WebSockets that had begun and did not end as they should. */

import { moment, says, time, type Rule } from "./evidence.ts";
import type { Facts } from "./facts.ts";

/** `after 12 messages, 11 of them answered`. */
function saidSoFar({ request }: Facts): string {
  const { events, webSocket } = request;
  return webSocket === undefined
    ? `after ${events ?? 0} events`
    : `after ${webSocket.sent} messages, ${webSocket.answered} of them answered`;
}

function isCutStream({ harm, request }: Facts): boolean {
  return harm === "truncated" && (request.events !== undefined || request.webSocket !== undefined);
}

export const BY_STREAM: readonly Rule[] = [
  {
    kind: "cut-by-router",
    evidence: (facts) =>
      isCutStream(facts) && facts.line?.class === "cut-by-router"
        ? `${facts.request.error} ${saidSoFar(facts)}${moment(facts)}; the router ended it when it dropped the copy`
        : null,
  },
  {
    kind: "garbage",
    evidence: (facts) =>
      isCutStream(facts) && facts.request.webSocket !== undefined && facts.request.error === "PARSE"
        ? `${saidSoFar(facts)} came what is no frame of a WebSocket${moment(facts)}`
        : null,
  },
  {
    kind: "message-lost",
    evidence: (facts) => {
      const { webSocket, error, endedMs, dispatchedMs } = facts.request;
      if (!isCutStream(facts) || webSocket === undefined || error !== "UNANSWERED") {
        return null;
      }
      const lost = webSocket.sent - webSocket.answered - webSocket.crossed;
      const how =
        webSocket.closeCode === null
          ? `no answer until the client left, ${time(endedMs - dispatchedMs)} after it had come`
          : `the close frame (${webSocket.closeCode}) came instead of an answer`;
      return `${lost} of ${webSocket.sent} messages: ${how}${moment(facts)}`;
    },
  },
  {
    kind: "service-error",
    evidence: (facts) => {
      const { error } = facts.request;
      // What is closed for a protocol's or an error's sake, while nobody leaves, is no matter of restarts.
      return isCutStream(facts) && error?.startsWith("CLOSE_") === true && facts.leaving === null
        ? `closed with ${error.slice(6)} ${saidSoFar(facts)}${moment(facts)}${says(facts)}`
        : null;
    },
  },
  {
    kind: "stream-cut",
    evidence: (facts) => {
      const { error } = facts.request;
      const how = error?.startsWith("CLOSE_") === true ? `closed with ${error.slice(6)}` : error;
      return isCutStream(facts) ? `${how} ${saidSoFar(facts)}${moment(facts)}${says(facts)}` : null;
    },
  },
];
