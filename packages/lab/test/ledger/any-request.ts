/** Any record of a request at all, for properties that must hold for each. */

import fc from "fast-check";
import type { RequestRecord } from "../../src/ledger/records.ts";

export interface RequestParts {
  readonly time: fc.Arbitrary<number>;
  readonly count: fc.Arbitrary<number>;
  readonly status: fc.Arbitrary<number>;
  readonly text: fc.Arbitrary<string>;
}

const plain = { noNullPrototype: true } as const;

export function anyRequest({ time, count, status, text }: RequestParts): fc.Arbitrary<RequestRecord> {
  const always = {
    kind: fc.constant("request" as const),
    id: text,
    method: fc.constantFrom("GET", "POST"),
    path: text,
    intendedMs: time,
    dispatchedMs: time,
    connectedMs: fc.option(time),
    writtenMs: fc.option(time),
    firstByteMs: fc.option(time),
    endedMs: time,
    fate: fc.constantFrom("answered" as const, "failed" as const),
    status: fc.option(status),
    stage: fc.constantFrom(null, "connect" as const, "write" as const, "wait" as const, "body" as const),
    error: fc.option(text),
    connection: fc.record(
      {
        id: count,
        reuse: count,
        ageMs: time,
        closedFirst: fc.constantFrom(null, "client" as const, "server" as const),
      },
      plain,
    ),
    bytes: fc.record({ promised: fc.option(count), got: count }, plain),
    copy: fc.option(text),
    upstream: fc.option(text),
  };
  const sometimes = { template: text, uploaded: count, events: count };
  const requiredKeys = Object.keys(always) as (keyof typeof always)[];
  return fc.record({ ...always, ...sometimes }, { ...plain, requiredKeys });
}
