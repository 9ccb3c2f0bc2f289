/** The parts of which the JSON schemas of reports are made. */

export type Schema = Readonly<Record<string, unknown>>;

export const TEXT: Schema = { type: "string" };
export const COUNT: Schema = { type: "integer", minimum: 0 };
export const YES: Schema = { type: "boolean" };
export const NUMBER: Schema = { type: "number" };
export const maybe = (schema: Schema): Schema => ({ anyOf: [schema, { type: "null" }] });
export const MS: Schema = maybe({ type: "number", description: "milliseconds" });
export const list = (items: Schema): Schema => ({ type: "array", items });
export const counts = (description: string): Schema => ({
  type: "object",
  additionalProperties: COUNT,
  description,
});
export const VALUES: Schema = {
  type: "object",
  additionalProperties: { type: ["string", "number", "boolean", "null"] },
};

/** Every key is always there, but for the optional ones. Others may come within a version: a reader ignores what it does not know. */
export function object(
  properties: Readonly<Record<string, Schema>>,
  description?: string,
  optional: Readonly<Record<string, Schema>> = {},
): Schema {
  return {
    type: "object",
    ...(description === undefined ? {} : { description }),
    required: Object.keys(properties),
    properties: { ...properties, ...optional },
  };
}
