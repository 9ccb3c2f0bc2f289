/** Starts a copy of the service and waits until it serves. */

import { spawn } from "node:child_process";
import { createServer } from "node:net";
import { performance } from "node:perf_hooks";
import { setTimeout as pause } from "node:timers/promises";
import { Copy, type Http2Door, StartFailed, type StartPlan } from "./copy.ts";
import { whereItListens } from "../target/start-advice.ts";
import { childOf } from "./processes.ts";
import { type Setting, type Subject, fill, writeSetting } from "./subject.ts";

/** A port that was free a moment ago, for a service that cannot say which one it chose. */
async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  const address = server.address();
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return typeof address === "object" && address !== null ? address.port : 0;
}

const START_TIMEOUT_MS = 20_000;
/** Some frameworks answer 404 until their routes are there; for longer than this it is the description that is wrong. */
const WRONG_ROUTE_MS = 3000;

/** Why it did not come up: it has ended, or it never got so far. */
async function notUp(subject: Subject, copy: Copy, wanted: string, isRefused = false): Promise<StartFailed> {
  if (copy.running) {
    const what = `${subject.name} did not ${wanted} within ${START_TIMEOUT_MS / 1000} s`;
    const where = subject.announces || !isRefused ? "" : whereItListens(copy.pid, copy.port);
    return new StartFailed("LAB_TARGET_NOT_READY", `${what}.${where}${copy.tail}`);
  }
  const { code, signal } = await copy.exited;
  const how = signal ?? `exit code ${String(code)}`;
  const said = `${subject.name} ended (${how}) before it served.${copy.tail}`;
  return new StartFailed("LAB_TARGET_DIED", said, code);
}

async function untilAnswered(subject: Subject, copy: Copy): Promise<void> {
  const route = subject.routes.ready ?? subject.routes.ordinary ?? "GET /";
  const [method = "GET", path = "/"] = route.split(" ");
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  let last = "nothing";
  let refusedSinceMs = Number.POSITIVE_INFINITY;
  while (copy.running && performance.now() < deadlineMs) {
    const answer = await copy.ask({ method, path: fill(path, { id: "start" }) });
    if (answer.status === 200) {
      return;
    }
    last = String(answer.status ?? answer.ended);
    const isWrong = answer.status !== null && answer.status >= 400 && answer.status < 500;
    refusedSinceMs = isWrong ? Math.min(refusedSinceMs, performance.now()) : Number.POSITIVE_INFINITY;
    if (performance.now() - refusedSinceMs > WRONG_ROUTE_MS) {
      const said = `${subject.name} answers ${route} with ${last} instead of 200.`;
      throw new StartFailed("LAB_ROUTE_REFUSED", said);
    }
    // The service says nothing by itself, so there is nothing else to wait for.
    await pause(20);
  }
  throw await notUp(subject, copy, `answer ${route} with 200 (last: ${last})`, last === "refused");
}

/** A server that speaks HTTP/2 alone answers no probe of HTTP/1.1; and of gRPC any answer is one. */
async function untilAnsweredOverHttp2(subject: Subject, copy: Copy, door: Http2Door): Promise<void> {
  const { ready, ordinary } = subject.routes;
  const [method = "GET", path = "/"] = (ready ?? ordinary ?? "GET /").split(" ");
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (copy.running && performance.now() < deadlineMs) {
    const wire = await copy.openHttp2(door).catch(() => null);
    if (wire !== null) {
      const { status } = await wire.ended(wire.request({ method, path: fill(path, { id: "start" }) }));
      wire.close();
      if (status === 200 || (ready === undefined && status !== null)) {
        return;
      }
    }
    await pause(20);
  }
  throw await notUp(subject, copy, "answer over HTTP/2");
}

async function untilAnnounced(subject: Subject, copy: Copy): Promise<void> {
  const line = await copy.line(/^\{"listening":true/, START_TIMEOUT_MS);
  if (line === null) {
    throw await notUp(subject, copy, 'announce itself by a line {"listening":true,"port":1} on stdout');
  }
  const said = JSON.parse(line.text) as { port?: number; adminPort?: number; http2Port?: number };
  copy.port = said.port ?? 0;
  copy.adminPort = said.adminPort ?? copy.adminPort;
  copy.http2Port = said.http2Port ?? copy.http2Port;
}

async function untilUp(subject: Subject, copy: Copy, plan: StartPlan): Promise<void> {
  if (plan.until === undefined) {
    if (plan.speaks !== undefined && !subject.announces) {
      return untilAnsweredOverHttp2(subject, copy, plan.speaks);
    }
    return subject.announces ? untilAnnounced(subject, copy) : untilAnswered(subject, copy);
  }
  const line = await copy.line(plan.until, START_TIMEOUT_MS);
  if (line === null) {
    throw await notUp(subject, copy, `print ${String(plan.until)}`);
  }
}

/** Starts a copy and waits until it serves (or until the plan's line). It leads a process group of its own. */
export async function startCopy(
  subject: Subject,
  plan: StartPlan,
  started: (copy: Copy) => void,
): Promise<Copy> {
  const port = subject.announces ? 0 : await freePort();
  const env: Record<string, string | undefined> = {
    ...process.env,
    ...subject.env,
    ...subject.guardian?.mark,
    PORT: String(port),
  };
  // The test runner's own variables must not reach the service.
  delete env["NODE_TEST_CONTEXT"];
  for (const [setting, value] of Object.entries(plan.set ?? {})) {
    const way = subject.settings[setting as Setting];
    if (way !== undefined) {
      env[way.env] = writeSetting(way, value);
    }
  }
  let adminPort: number | null = null;
  if (plan.admin === true && subject.adminPort !== undefined) {
    adminPort = await freePort();
    env[subject.adminPort.env] = String(adminPort);
  }
  let http2Port: number | null = null;
  if (plan.speaks === "http2Port" && subject.http2Port !== undefined) {
    http2Port = await freePort();
    env[subject.http2Port.env] = String(http2Port);
  }
  if (plan.unixSocket !== undefined && subject.unixSocket !== undefined) {
    env[subject.unixSocket.env] = plan.unixSocket;
  }
  Object.assign(env, plan.mode, plan.env);
  const own = subject.command.map((part) => fill(part, { port }));
  const [command = "", ...args] = [...(plan.before ?? []), ...own];
  const inherited = plan.inherit === undefined ? [] : [plan.inherit];
  const child = spawn(command, args, {
    env,
    detached: true,
    stdio: ["ignore", "pipe", "pipe", ...inherited],
  });
  const copy = new Copy(subject, child);
  if (child.pid !== undefined) {
    subject.guardian?.watch(child.pid);
  }
  copy.port = port;
  copy.adminPort = adminPort;
  copy.http2Port = http2Port;
  started(copy);
  const failure = new Promise<never>((_resolve, reject) => {
    child.once("error", (error) =>
      reject(
        new StartFailed("LAB_TARGET_NOT_STARTED", `'${command}' could not be started: ${error.message}.`),
      ),
    );
  });
  await Promise.race([untilUp(subject, copy, plan), failure]);
  if (plan.before !== undefined) {
    copy.servicePid = childOf(copy.pid) ?? copy.pid;
  }
  return copy;
}
