/** The JSON schema of lastcall.config.json, from the same tables that check it: for completion in editors. */

import { DURATION_FORMS, KEY_NAMES, MODE_NAMES, ROUTE_NAMES, SAYING_NAMES, SETTING_NAMES } from "./names.ts";

type Schema = Readonly<Record<string, unknown>>;

const TEXT: Schema = { type: "string" };
const TEXTS: Schema = { type: "object", additionalProperties: TEXT };

function named(names: Readonly<Record<string, string>>, value: Schema): Schema {
  return {
    type: "object",
    additionalProperties: false,
    properties: Object.fromEntries(
      Object.entries(names).map(([name, description]) => [name, { ...value, description }]),
    ),
  };
}

const EXIT_CODE: Schema = { type: "integer", minimum: 0, maximum: 255 };
const DOOR: Schema = {
  type: "object",
  additionalProperties: false,
  required: ["env"],
  properties: { env: TEXT },
};

/** What each key under `prove` takes. */
const KEYS: Readonly<Record<string, Schema>> = {
  library: { const: "lastcall" },
  name: TEXT,
  command: { type: "array", items: TEXT, minItems: 1 },
  env: TEXTS,
  tls: { type: "boolean" },
  announces: { type: "boolean" },
  drainDelay: { type: "string", pattern: "^(0|[0-9]+(\\.[0-9]+)?(ms|s|m|h))$" },
  stopSignal: { type: "string", pattern: "^SIG[A-Z0-9]+$" },
  routes: named(ROUTE_NAMES, { type: "string", pattern: "^(GET|POST|PUT) /\\S*$" }),
  settings: named(SETTING_NAMES, {
    type: "object",
    additionalProperties: false,
    required: ["env"],
    properties: { env: TEXT, as: { enum: DURATION_FORMS } },
  }),
  says: named(SAYING_NAMES, TEXT),
  modes: named(MODE_NAMES, TEXTS),
  adminPort: DOOR,
  unixSocket: DOOR,
  http2Port: DOOR,
  handoffStore: DOOR,
  record: { type: "boolean" },
  exitCodes: {
    type: "object",
    additionalProperties: false,
    properties: { clean: EXIT_CODE, incomplete: EXIT_CODE },
  },
};

export function configSchema(rolloutFlags: Readonly<Record<string, "string" | "boolean" | "list">>): Schema {
  const takes: Readonly<Record<string, Schema>> = {
    string: { type: ["string", "number"] },
    boolean: { type: "boolean" },
    list: { type: "array", items: TEXT },
  };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "lastcall.config.json",
    type: "object",
    additionalProperties: false,
    properties: {
      $schema: TEXT,
      rollout: {
        type: "object",
        description: "The flags of `lastcall rollout` by the same names.",
        additionalProperties: false,
        properties: Object.fromEntries(
          Object.entries(rolloutFlags).map(([name, kind]) => [name, takes[kind]]),
        ),
      },
      prove: {
        type: "object",
        description: "The service for `lastcall prove`.",
        additionalProperties: false,
        properties: Object.fromEntries(
          Object.entries(KEYS).map(([name, schema]) => [name, { ...schema, description: KEY_NAMES[name] }]),
        ),
      },
      lint: {
        type: "object",
        description: "The configuration of `lastcall lint`; docs/lint.md describes it.",
      },
    },
  };
}
