/** The deadline of an HTTP/1.1 server: each connection ends in the way that tells its client the most. */

import type { ServerResponse } from "node:http";
import type { Admission } from "../admission.ts";
import { isAnswering, reset, speaksHttp, type Connections } from "./connections.ts";
import type { HttpExchange } from "./http-exchange.ts";
import { RAW_REFUSAL, refuseInCrowd, refuseUnanswered } from "./refusal.ts";
import type { Cut } from "./server.ts";

/** Ends what is in flight, then what is neither that nor idle; what became of the former. */
export function cutHttp1(
  inFlight: readonly HttpExchange[],
  connections: Connections,
  admission: Admission,
): readonly Cut[] {
  const cuts = inFlight.map((exchange): Cut => {
    return { route: exchange.route(), startedAt: exchange.startedAt, how: howToCut(exchange.response) };
  });
  const busy = new Set(inFlight.map(({ request }) => request.socket));
  connections.endIdle();
  inFlight.forEach(({ request, response }, at) => {
    if (cuts[at]?.how === "503") {
      if (!refuseInCrowd(response, inFlight.length)) {
        refuseUnanswered(response);
      }
    } else if (cuts[at]?.how === "reset") {
      reset(request.socket);
    }
  });
  for (const socket of connections.each()) {
    if (busy.has(socket) || socket.destroyed || !socket.writable || isAnswering(socket)) {
      continue;
    }
    if (speaksHttp(socket)) {
      // A head that never became whole.
      admission.refuse("503");
      socket.end(RAW_REFUSAL);
    } else {
      reset(socket);
    }
  }
  return cuts;
}

function howToCut(response: ServerResponse): Cut["how"] {
  if (response.writableFinished || response.destroyed) {
    return "handler";
  }
  return response.headersSent ? "reset" : "503";
}
