/**
 * The thread that holds the deadline when the main one cannot. It pauses the main thread by the inspector, which works
 * inside any loop, regular expression or `Atomics.wait`, names the function, writes the record and has the main thread
 * leave with code 3. In native code nothing answers: there it kills the process. Its own file, since it is a program.
 */

import { Session } from "node:inspector";
import { workerData } from "node:worker_threads";
import { writeRecord } from "./node-output.ts";
import type { WatchdogData } from "./node-watchdog.ts";
import { formatRecord, type ShutdownRecord } from "./record.ts";
import { describeStack, PulseMemory, type Frame, type Pulse } from "./watchdog.ts";

const TICK_MS = 50;

/** So many ticks without a beat: counted, not measured, so that a suspended machine is not taken for a blocked loop. */
const SILENT_TICKS = 6;

/** A main thread that is only late has this much longer, in nanoseconds. */
const LATE_NS = 100_000_000n;

/** Refreshes the record from inside the paused thread, so that it counts up to the pause. */
const REFRESH = `globalThis[Symbol.for("lastcall.lifecycle")]?.beat?.()`;

const data = workerData as WatchdogData;
const memory = new PulseMemory(data.buffer);
let beats = 0;
let silent = 0;

void memory.stopped().then(() => process.exit());

const timer = setInterval(() => {
  const pulse = memory.read();
  if (pulse === null) {
    return;
  }
  silent = pulse.beats === beats ? silent + 1 : 0;
  beats = pulse.beats;
  if (silent >= SILENT_TICKS && process.hrtime.bigint() > pulse.limitAt + LATE_NS) {
    clearInterval(timer);
    void end();
  }
}, TICK_MS);

async function end(): Promise<void> {
  const session = new Session();
  try {
    session.connectToMainThread();
    const frames = await pause(session);
    if (frames !== null) {
      await evaluate(session, frames, REFRESH);
      write(memory.read(), describeStack(frames), 3);
      await evaluate(session, frames, "globalThis.process.reallyExit(3)");
      // Not reached, unless somebody has put another function in its place.
      kill();
      return;
    }
  } catch {
    // No inspector in this Node, or not allowed: it ends the hard way.
  }
  // As PID 1 neither signal has an effect; what remains ends with the code of a crash.
  write(memory.read(), "native", process.pid === 1 ? 139 : 137);
  kill();
}

type CallFrame = Frame & { readonly callFrameId: string };

/** The stack of the main thread, which stands still from now on; null when it does not answer. */
function pause(session: Session): Promise<readonly CallFrame[] | null> {
  return new Promise((resolve) => {
    setTimeout(() => resolve(null), data.answerMs);
    // A frame's own url is empty; that of its script is told while the debugger is enabled.
    const urls = new Map<string, string>();
    session.on("Debugger.scriptParsed", ({ params }) => urls.set(params.scriptId, params.url));
    session.once("Debugger.paused", ({ params }) => {
      resolve(params.callFrames.map((frame) => ({ ...frame, url: urls.get(frame.location.scriptId) ?? "" })));
    });
    session.post("Debugger.enable");
    session.post("Debugger.pause");
  });
}

function evaluate(session: Session, frames: readonly CallFrame[], expression: string): Promise<void> {
  const callFrameId = frames[0]?.callFrameId ?? "";
  return new Promise((resolve) => {
    setTimeout(resolve, data.answerMs);
    session.post("Debugger.evaluateOnCallFrame", { callFrameId, expression, silent: true }, () => resolve());
  });
}

function write(pulse: Pulse | null, blockedIn: string, exitCode: number): void {
  if (pulse !== null) {
    const record = JSON.parse(pulse.record) as ShutdownRecord;
    // What the blocked thread had queued on its streams cannot be known from here.
    writeRecord(formatRecord({ ...record, blockedIn, exitCode }), data.recordFile, true);
  }
}

function kill(): void {
  process.kill(process.pid, "SIGKILL");
  // Still here, so we are PID 1, which no signal from inside ends. A failed assertion of Node's own does (20 to 26).
  setTimeout(() => {
    const { binding } = process as unknown as { binding(name: string): { open(): void } };
    binding("fs").open();
  }, TICK_MS);
}
