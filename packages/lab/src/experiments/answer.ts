/** What became of one request, in the words of the experiments. */

import { openWire } from "../contract/open-wire.ts";
import { Refused, type Answer, type Wire } from "../contract/wire.ts";

/** `refused`: no connection. `cut`: the other side ended it before the answer was whole. `silent`: nothing in time. */
export type Ending = "answered" | "refused" | "cut" | "silent";

export interface Fate {
  readonly ending: Ending;
  /** Null when no head came. */
  readonly status: number | null;
  /** From the sending of the request to the last that was heard of it. */
  readonly afterMs: number;
  readonly body: string;
}

const ENDINGS: Readonly<Record<Answer["ended"], Ending>> = {
  whole: "answered",
  fin: "cut",
  reset: "cut",
  timeout: "silent",
  refused: "refused",
};

export function fateOf(answer: Answer, sentMs: number): Fate {
  return {
    ending: ENDINGS[answer.ended],
    status: answer.status,
    afterMs: answer.endAtMs - sentMs,
    body: answer.body,
  };
}

/** `200 after 3.01 s`, `cut after 0.70 s`. */
export function inWords({ ending, status, afterMs }: Fate): string {
  const what = ending === "answered" ? String(status) : ending === "silent" ? "no answer" : ending;
  const after = afterMs < 10 ? `${afterMs.toFixed(1)} ms` : `${(afterMs / 1000).toFixed(2)} s`;
  return `${what} after ${after}`;
}

export function isAnswered(fate: Fate, status: number): boolean {
  return fate.ending === "answered" && fate.status === status;
}

export interface Asked {
  readonly method?: "GET" | "POST";
  readonly path: string;
  readonly body?: string;
  readonly timeoutMs?: number;
}

/** Sends a request and gives its fate; never rejects for what the other side does. */
export async function askOn(wire: Wire, asked: Asked): Promise<Fate> {
  const { method = "GET", path, body, timeoutMs = 15_000 } = asked;
  const sentMs = performance.now();
  const shape = body === undefined ? {} : { body, headers: { "Content-Type": "application/json" } };
  wire.request({ method, path }, shape);
  return fateOf(await wire.answer({ method, timeoutMs }), sentMs);
}

/** The same on a connection of its own, which is closed afterwards. */
export async function ask(port: number, asked: Asked): Promise<Fate> {
  const beganMs = performance.now();
  try {
    const wire = await openWire({ kind: "tcp", port, tls: false });
    try {
      return await askOn(wire, asked);
    } finally {
      wire.close();
    }
  } catch (error) {
    if (!(error instanceof Refused)) {
      throw error;
    }
    const ending = error.code === "ECONNREFUSED" ? "refused" : "cut";
    return { ending, status: null, afterMs: error.atMs - beganMs, body: "" };
  }
}
