/** As much of JSON Schema as our own schemas use: what is wrong with a value, by its path; empty when nothing is. */

type Schema = Readonly<Record<string, unknown>>;

const TYPES: Readonly<Record<string, (value: unknown) => boolean>> = {
  object: (value) => typeof value === "object" && value !== null && !Array.isArray(value),
  array: (value) => Array.isArray(value),
  string: (value) => typeof value === "string",
  number: (value) => typeof value === "number",
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === "boolean",
  null: (value) => value === null,
};

export function faults(root: Schema, value: unknown, schema: Schema = root, at = "$"): readonly string[] {
  const reference = schema["$ref"];
  if (typeof reference === "string") {
    const parts = reference.slice(2).split("/");
    return faults(
      root,
      value,
      parts.reduce<Schema>((one, part) => one[part] as Schema, root),
      at,
    );
  }
  const found: string[] = [];
  const types = [schema["type"] ?? []].flat().map(String);
  if (types.length > 0 && !types.some((type) => TYPES[type]?.(value) === true)) {
    return [`${at} is no ${types.join(" or ")}`];
  }
  if ("const" in schema && schema["const"] !== value) {
    found.push(`${at} is not ${String(schema["const"])}`);
  }
  if (Array.isArray(schema["enum"]) && !schema["enum"].includes(value)) {
    found.push(`${at} is none of ${schema["enum"].join(", ")}`);
  }
  if (Array.isArray(schema["anyOf"])) {
    const tried = (schema["anyOf"] as readonly Schema[]).map((one) => faults(root, value, one, at));
    if (!tried.some((one) => one.length === 0)) {
      found.push(...tried.flat());
    }
  }
  if (typeof value === "number" && value < Number(schema["minimum"] ?? -Infinity)) {
    found.push(`${at} is below ${String(schema["minimum"])}`);
  }
  if (Array.isArray(value) && "items" in schema) {
    found.push(
      ...value.flatMap((one, index) => faults(root, one, schema["items"] as Schema, `${at}[${index}]`)),
    );
  } else if (TYPES["object"]?.(value) === true) {
    const own = value as Schema;
    const properties = (schema["properties"] ?? {}) as Readonly<Record<string, Schema>>;
    for (const name of (schema["required"] ?? []) as readonly string[]) {
      if (!(name in own)) {
        found.push(`${at}.${name} is missing`);
      }
    }
    for (const [name, one] of Object.entries(own)) {
      const of = properties[name] ?? (schema["additionalProperties"] as Schema | undefined);
      if (of !== undefined) {
        found.push(...faults(root, one, of, `${at}.${name}`));
      }
    }
  }
  return found;
}
