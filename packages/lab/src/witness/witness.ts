/**
 * What a Node service itself sees of each request, for `node --import @lastcall/lab/witness`. It listens to what Node tells of
 * its HTTP servers anyway and appends a line for each arrival and each answer to the file that LASTCALL_WITNESS names; without that
 * variable it does nothing. Nothing of the app is wrapped, and nothing is kept open by it.
 */

import { subscribe } from "node:diagnostics_channel";
import { openSync, writeSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";

const file = process.env["LASTCALL_WITNESS"] ?? "";

function watch(fd: number): void {
  let count = 0;
  let broken = false;
  // One clock for all processes of the machine, as the lab's own.
  const offsetMs = Number(process.hrtime.bigint()) / 1e6 - performance.now();
  const say = (line: Readonly<Record<string, string | number | boolean>>): void => {
    if (broken) {
      return;
    }
    try {
      // At once: what is still in a buffer dies with the process, and that is the moment we ask about.
      writeSync(fd, `${JSON.stringify({ ...line, pid: process.pid, t: performance.now() + offsetMs })}\n`);
    } catch {
      broken = true; // A full disk: the app must not hear of it, and the lab finds the file short.
    }
  };
  say({ on: "watch" });
  subscribe("http.server.request.start", (message) => {
    const { request, response } = message as { request: IncomingMessage; response: ServerResponse };
    const id = request.headers["x-request-id"];
    if (typeof id !== "string") {
      return;
    }
    count += 1;
    const n = count;
    say({ on: "arrival", n, id, method: request.method ?? "" });
    if (
      request.headers["content-length"] !== undefined ||
      request.headers["transfer-encoding"] !== undefined
    ) {
      // Should the process die at its work, this line says that it had all that it needed for it.
      request.once("end", () => say({ on: "body", n }));
    }
    response.once("prefinish", () => {
      say({ on: "answer", n, status: response.statusCode, body: request.complete });
    });
    response.once("close", () => {
      if (!response.writableFinished) {
        const { socket } = request;
        const peer = socket.readableEnded || (socket.errored ?? null) !== null;
        say({
          on: "cut",
          n,
          status: response.headersSent ? response.statusCode : 0,
          body: request.complete,
          by: peer ? "peer" : "service",
        });
      }
    });
  });
}

// Loaded twice, by the lab and by the command itself, it would count twice.
const LOADED = Symbol.for("lastcall.witness");
if (file !== "" && !(LOADED in globalThis)) {
  Object.defineProperty(globalThis, LOADED, { value: true });
  watch(openSync(file, "a"));
}
