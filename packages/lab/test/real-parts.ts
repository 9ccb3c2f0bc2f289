/** Real programs that tests run: absent on a user's laptop they are skipped by name, absent in CI they are a failure. */

import { findNginx } from "../src/router/nginx.ts";

/** Null where it may be missing. */
export async function realNginx(): ReturnType<typeof findNginx> {
  const found = await findNginx(process.env);
  if (found === null && process.env["CI"] !== undefined) {
    throw new Error("nginx is missing, and CI should have it: apt-get install nginx-light");
  }
  return found;
}
