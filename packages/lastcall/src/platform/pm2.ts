/**
 * pm2's cluster mode starts a program with its environment packed into one variable, which its own loader unpacks after
 * `--import` has run. Pure.
 */

type Env = Readonly<Record<string, string | undefined>>;

/** The environment as the program will see it. */
export function unpackEnvironment(env: Env): Env {
  const packed = env["pm2_env"];
  if (packed === undefined) {
    return env;
  }
  try {
    const values = Object.entries(JSON.parse(packed) as Readonly<Record<string, unknown>>);
    const texts = values.filter(([, value]) => typeof value === "string" || typeof value === "number");
    return { ...env, ...Object.fromEntries(texts.map(([name, value]) => [name, String(value)])) };
  } catch {
    // Somebody else's variable of that name.
    return env;
  }
}
