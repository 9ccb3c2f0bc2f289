/** Boundary `handler`: a request counts until the promise of its handler has settled. A closed socket is no finished work. */

import type { IncomingMessage, ServerResponse } from "node:http";
import type { Admission } from "../admission.ts";
import { exchangeOf } from "./http-exchange.ts";

type Handler<Rest extends unknown[], Result> = (
  request: IncomingMessage,
  response: ServerResponse,
  ...rest: Rest
) => Result;

/** The same handler, counted. Its promise is given back in place of its own, so that a rejection stays the caller's. */
export function countUntilSettled<Rest extends unknown[], Result>(
  handler: Handler<Rest, Result>,
  admission: Admission,
): Handler<Rest, Result> {
  return (request, response, ...rest) => {
    const result = handler(request, response, ...rest);
    const exchange = exchangeOf(request);
    if (exchange === undefined || !(result instanceof Promise)) {
      return result;
    }
    exchange.open += 1;
    // Not by `finally`, which costs a request 1,000 ns where this costs a third of it.
    return result.then(
      (value: unknown) => {
        admission.settle(exchange);
        return value;
      },
      (error: unknown) => {
        admission.settle(exchange);
        throw error;
      },
    ) as Result;
  };
}
