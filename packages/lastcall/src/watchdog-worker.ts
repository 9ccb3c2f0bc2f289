/**
 * The thread that holds the deadline when the main one cannot. It pauses the main thread by the inspector, which works
 * inside any loop, regular expression or `Atomics.wait`, names the function, writes the record and has the main thread
 * leave with code 3. In native code nothing answers: there it kills the process. A main thread that runs out of memory is
 * paused by V8 itself, if somebody debugs it by then. Its own file, since it is a program.
 */

import { workerData } from "node:worker_threads";
import { describeStack } from "./call-stack.ts";
import { MainThread, type CallFrame } from "./node-inspector.ts";
import { writeRecord } from "./node-output.ts";
import type { WatchdogData } from "./node-watchdog.ts";
import { formatRecord, type ShutdownRecord } from "./record.ts";
import { PulseMemory, type Pulse } from "./watchdog-memory.ts";

const TICK_MS = 50;

/** So many ticks without a beat: counted, not measured, so that a suspended machine is not taken for a blocked loop. */
const SILENT_TICKS = 6;

/** A thread that has been silent for so long, or whose heap is so full, may be about to run out of memory. */
const SUSPECT_TICKS = 3;
const FULL_HEAP = 0.35;

/** A main thread that is only late has this much longer, in nanoseconds. */
const LATE_NS = 100_000_000n;

/** Refreshes the record from inside the paused thread, so that it counts up to the pause. */
const REFRESH = `globalThis[Symbol.for("lastcall.lifecycle")]?.beat?.()`;

const data = workerData as WatchdogData;
const memory = new PulseMemory(data.buffer);
const main = new MainThread(data.answerMs);
let beats = 0;
let silent = 0;

void memory.stopped().then(() => {
  main.leave();
  process.exit();
});

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
  } else if (silent >= SUSPECT_TICKS || pulse.heapShare > FULL_HEAP) {
    main.debug((frames) => {
      clearInterval(timer);
      void leave(frames, `heap exhausted in ${describeStack(frames)}`);
    });
  } else {
    main.leave();
  }
}, TICK_MS);

async function end(): Promise<void> {
  const frames = await main.pause();
  if (frames !== null) {
    await leave(frames, describeStack(frames));
    return;
  }
  // As PID 1 neither signal has an effect; what remains ends with the code of a crash.
  write(memory.read(), "native", process.pid === 1 ? 139 : 137);
  kill();
}

/** Has the paused thread end the process. */
async function leave(frames: readonly CallFrame[], blockedIn: string): Promise<void> {
  await main.evaluate(frames, REFRESH);
  write(memory.read(), blockedIn, 3);
  await main.evaluate(frames, "globalThis.process.reallyExit(3)");
  // Not reached, unless somebody has put another function in its place.
  kill();
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
