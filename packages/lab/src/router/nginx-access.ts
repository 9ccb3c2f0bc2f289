/** Lines of nginx's access log, in the format that the lab sets, as witnesses by request id. */

import type { RouterLine, RouterTry } from "../ledger/records.ts";

interface Line {
  /** Seconds since 1970, with three digits. */
  readonly at: number;
  readonly id: string;
  readonly status: number;
  /** Lists with `, ` between the tries, and ` : ` at an internal redirect; `-` for what did not come to be. */
  readonly upstream: string;
  readonly upstream_status: string;
  readonly connect_time: string;
  readonly upstream_time: string;
  readonly completion: string;
  readonly bytes: number;
}

const parts = (list: string): readonly string[] => (list === "" ? [] : list.split(/, | : /));
const numberIn = (text: string | undefined, scale: number): number | null => {
  const value = Number.parseFloat(text ?? "");
  return Number.isNaN(value) ? null : value * scale;
};

function triesOf(line: Line): readonly RouterTry[] {
  const statuses = parts(line.upstream_status);
  const connects = parts(line.connect_time);
  const times = parts(line.upstream_time);
  return parts(line.upstream).map((address, index) => ({
    address,
    status: numberIn(statuses[index], 1),
    connectMs: numberIn(connects[index], 1000),
    responseMs: numberIn(times[index], 1000),
  }));
}

/** `zeroMs`: the run's time zero on the wall clock. */
export function readNginxAccess(text: string, zeroMs: number): ReadonlyMap<string, RouterLine> {
  const byId = new Map<string, RouterLine>();
  for (const raw of text.split("\n")) {
    if (raw === "") {
      continue;
    }
    let line: Line;
    try {
      line = JSON.parse(raw) as Line;
    } catch {
      continue; // Still being written.
    }
    if (line.id === "") {
      continue;
    }
    const tries = triesOf(line);
    byId.set(line.id, {
      atMs: line.at * 1000 - zeroMs,
      status: line.status,
      tries,
      retries: Math.max(0, tries.length - 1),
      termination: line.completion === "OK" ? null : "incomplete",
      class: null,
      bytes: line.bytes,
    });
  }
  return byId;
}
