/**
 * Starts the service once before anything is judged and asks its routes. What does not serve as it is described cannot be
 * judged, and one clear reason is better than the same one under every clause.
 */

import { type Copy, StartFailed } from "../contract/copy.ts";
import { startCopy } from "../contract/start-copy.ts";
import { type Route, type Routes, type Subject, fill } from "../contract/subject.ts";
import { LabError, type LabCode } from "../errors.ts";
import { adviceOnEnd } from "../target/start-advice.ts";

/** Routes without a side effect, which answer 200 soon; a fraction of a second, as judges ask for it. */
const ASKED = ["ready", "live", "ordinary", "slow", "stream", "upload"] as const;
const VALUES = { id: "preflight", seconds: 0.1 };
const BODY = "preflight";
/** How long a route that waits for a body must have kept silent. */
const HOLD_BACK_MS = 300;

const NEXT: Readonly<Partial<Record<LabCode, string>>> = {
  LAB_TARGET_NOT_STARTED: "Check the command after --; it is run without a shell.",
  LAB_ROUTE_REFUSED: "Name a route that answers 200 at once with --ordinary, and readiness with --ready.",
  LAB_TARGET_NOT_READY:
    "Let it listen on PORT (or {port} in the command) on 127.0.0.1; name a route that answers 200 with --ready or --ordinary.",
};

function nextOf(error: StartFailed): string {
  return error.code === "LAB_TARGET_DIED"
    ? adviceOnEnd({ code: error.exitCode }, error.message, {
        taken: "Let it listen on the port it is given: PORT in its environment, or {port} in the command.",
        otherwise: "Run the command by hand with PORT set and see that it stays.",
      })
    : (NEXT[error.code] ?? "");
}

async function askRoute(copy: Copy, subject: Subject, name: (typeof ASKED)[number]): Promise<void> {
  const route: Routes[keyof Routes] = subject.routes[name];
  if (route === undefined) {
    return;
  }
  const [method = "GET", path = "/"] = route.split(" ");
  const answer = await copy.ask(
    { method, path: fill(path, VALUES) },
    "public",
    5000,
    method === "GET" ? {} : { body: BODY },
  );
  if (answer.status === 200 && answer.ended === "whole") {
    return;
  }
  const seen =
    answer.status === null
      ? `gave no answer in HTTP (${answer.ended})`
      : `answered ${answer.status}${answer.ended === "whole" ? "" : `, not to its end (${answer.ended})`}`;
  throw new LabError(
    "LAB_ROUTE_REFUSED",
    `The ${name} route ${route} of ${subject.name} ${seen} instead of 200, before any stop signal.`,
    name === "ordinary"
      ? "Name a route that answers 200 at once: --ordinary PATH, or routes.ordinary."
      : `Describe routes.${name} as it is, or leave it out: what needs it is then not judged.`,
  );
}

/** A request is made long by holding half of its body back: that needs a route that waits for the rest. */
async function checkHoldBack(copy: Copy, { routes, name }: Subject): Promise<void> {
  if (routes.slow !== undefined || routes.upload === undefined) {
    return;
  }
  const [method = "POST", path = "/"] = routes.upload.split(" ");
  const wire = await copy.open();
  wire.request({ method, path: fill(path, VALUES), holdBackMs: HOLD_BACK_MS * 2 });
  const early = await wire.answer({ method, timeoutMs: HOLD_BACK_MS });
  wire.close();
  if (early.status !== null) {
    throw new LabError(
      "LAB_ROUTE_REFUSED",
      `The upload route ${routes.upload} of ${name} answered ${early.status} before the body had come, so no request can be made long with it.`,
      "Name a slow route with --slow, or an upload route that reads its body to the end.",
    );
  }
}

/** A gRPC server of which nothing else is said: there is no HTTP/1.1 to ask. */
function speaksHttp2Alone({ routes }: Subject): boolean {
  return routes.grpcUnary !== undefined && routes.ready === undefined && routes.ordinary === "GET /";
}

/** What the library says as it starts, unless LASTCALL_LOG keeps it silent. */
const START_UP_LINE = "lastcall: grace period ";

const ROOT: Route = "GET /";

/** Many services answer nothing at `/`, which nobody named: a slow route that is asked for no time answers at once as well. */
async function ordinaryOf(copy: Copy, { routes }: Subject): Promise<Subject["routes"]> {
  const { ordinary, slow } = routes;
  if (ordinary !== ROOT || slow === undefined || (await answers(copy, ROOT))) {
    return routes;
  }
  const instant = fill(slow, { seconds: 0 }) as Route;
  return (await answers(copy, instant)) ? { ...routes, ordinary: instant } : routes;
}

async function answers(copy: Copy, route: Route): Promise<boolean> {
  const [method = "GET", path = "/"] = route.split(" ");
  const { status, ended } = await copy.ask({ method, path: fill(path, VALUES) }, "public", 5000);
  return status === 200 && ended === "whole";
}

export interface Preflight {
  /** Its ordinary route is one that answers. */
  readonly subject: Subject;
  /** Whether the service has said that lastcall is in it. */
  readonly runsLastcall: boolean;
}

/** Errors: LAB_TARGET_NOT_STARTED, LAB_TARGET_DIED, LAB_TARGET_NOT_READY, LAB_ROUTE_REFUSED. */
export async function preflight(described: Subject): Promise<Preflight> {
  if (speaksHttp2Alone(described)) {
    return { subject: described, runsLastcall: false };
  }
  const started: Copy[] = [];
  try {
    const copy = await startCopy(described, {}, (one) => started.push(one));
    const subject = { ...described, routes: await ordinaryOf(copy, described) };
    for (const name of ASKED) {
      // One after the other: the first that fails is told.
      await askRoute(copy, subject, name);
    }
    await checkHoldBack(copy, subject);
    return { subject, runsLastcall: copy.lines.some(({ text }) => text.startsWith(START_UP_LINE)) };
  } catch (error) {
    if (error instanceof StartFailed) {
      throw new LabError(error.code, error.message, nextOf(error), { cause: error });
    }
    throw error;
  } finally {
    await Promise.all(started.map((copy) => copy.kill()));
  }
}
