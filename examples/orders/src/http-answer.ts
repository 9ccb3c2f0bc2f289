/** Reading and answering in JSON, and the errors that are an answer. */

import type { IncomingMessage, ServerResponse } from "node:http";

const MAX_BODY = 64 * 1024;

/** Thrown by a route; becomes an answer with this status. */
export class HttpError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

export function answerJson(res: ServerResponse, status: number, body: unknown): void {
  const text = JSON.stringify(body);
  res.writeHead(status, { "content-type": "application/json", "content-length": Buffer.byteLength(text) });
  res.end(text);
}

export async function readJson(req: IncomingMessage): Promise<Readonly<Record<string, unknown>>> {
  let text = "";
  req.setEncoding("utf8");
  for await (const chunk of req) {
    text += String(chunk);
    if (text.length > MAX_BODY) throw new HttpError(413, `the body is longer than ${MAX_BODY} characters`);
  }
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    if (typeof value === "object" && value !== null) return value as Readonly<Record<string, unknown>>;
  } catch {
    // Answered below, like every other body that is no object.
  }
  throw new HttpError(400, "the body is not a JSON object");
}

/** A number of seconds (or pieces) between 0 and an hour's worth, from a query or a body. */
export function numberOf(name: string, value: unknown, ifMissing: number): number {
  if (value === undefined || value === null) return ifMissing;
  const number = typeof value === "string" && value !== "" ? Number(value) : value;
  if (typeof number === "number" && number >= 0 && number <= 3600) return number;
  throw new HttpError(400, `${name} is not a number from 0 to 3600`);
}
