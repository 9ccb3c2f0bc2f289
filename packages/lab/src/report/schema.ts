/** The JSON schemas of `lastcall report --json` (docs/report.schema.json) and of `lastcall rollout --json` (docs/rollout.schema.json). */

import { COUNT, list, maybe, MS, NUMBER, object, TEXT, YES, type Schema } from "./json-schema.ts";
import { CONTROL, TRIAL, VERDICT } from "./verdict-schema.ts";

export const REPORT_SCHEMA: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "lastcall report --json",
  ...object({
    schema: { const: "lastcall.report/1" },
    partial: { ...list(TEXT), description: "why this is not the whole run; empty when it is" },
    share: list(object({ place: TEXT, requests: COUNT, share: NUMBER })),
    verdict: { $ref: "#/$defs/verdict" },
    before: maybe({ $ref: "#/$defs/verdict" }),
  }),
  $defs: { verdict: VERDICT },
};

const PLATFORM = object({
  platform: TEXT,
  sum: TEXT,
  lines: list(object({ text: TEXT, why: TEXT })),
  emit: maybe(TEXT),
});

export const ROLLOUT_SCHEMA: Schema = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  title: "lastcall rollout --json",
  ...object({
    schema: { const: "lastcall.rollout/1" },
    exitCode: { enum: [0, 1, 4] },
    rows: list(
      object({
        scenario: TEXT,
        title: TEXT,
        mustShow: TEXT,
        judgedStrictly: YES,
        shown: YES,
        why: maybe(TEXT),
        sent: COUNT,
        getFailed: COUNT,
        postFailed: COUNT,
        slow: COUNT,
        acknowledged: COUNT,
        rows: maybe(COUNT),
        inDoubt: COUNT,
        refused: COUNT,
        notRefused: COUNT,
        slowestMs: MS,
        routerLost: COUNT,
        folder: TEXT,
        explain: list(TRIAL),
        controls: list(CONTROL),
        platform: maybe(PLATFORM),
        verdict: { $ref: "#/$defs/verdict" },
      }),
    ),
  }),
  $defs: { verdict: VERDICT },
};
