/**
 * The signals and the exit of a real process, and how auto mode comes before the app's own handlers. Part of
 * the real `Host`.
 */

import { constants } from "node:os";
import { isMainThread } from "node:worker_threads";
import type { ForeignListener, StopRequest, Undo } from "./host.ts";
import { SHUTDOWN } from "./node-channel.ts";
import { onPassedSignal } from "./node-threads.ts";
import { OWN_LISTENER, REAL_EXIT } from "./registry.ts";

type Listener = (...args: unknown[]) => unknown;
type Emit = (event: string | symbol, ...args: unknown[]) => boolean;
type Exit = ((code?: unknown) => unknown) & { [REAL_EXIT]?: Exit };

/** Where the app registered a handler; known only for what came after `interceptStops`. */
const sites = new WeakMap<Listener, string>();

/** Listens for a signal, marked as one of ours. */
export function onSignal(signal: NodeJS.Signals, run: () => void): Undo {
  if (!isMainThread) {
    return onPassedSignal(signal, run);
  }
  const listener = Object.assign(() => run(), { [OWN_LISTENER]: true });
  process.on(signal, listener);
  return () => void process.removeListener(signal, listener);
}

export function foreignListeners(stop: StopRequest): readonly ForeignListener[] {
  const [event, args] =
    stop === "shutdown message"
      ? (["message", [SHUTDOWN, undefined]] as const)
      : ([stop, [stop, constants.signals[stop]]] as const);
  return process
    .rawListeners(event as NodeJS.Signals)
    .map((raw) => raw as Listener)
    .filter((raw) => !isOwn(raw))
    .map((raw) => ({ name: nameOf(raw), call: () => Reflect.apply(raw, process, args) }));
}

/**
 * Node delivers a signal by `process.emit`, bound when the first listener of the signal comes (Node 20 to 26), so an own
 * `emit` put in place before that decides who hears it, and the app's listeners stay where they are: listed, removable,
 * once. Listeners that came before are taken off and put back, which binds Node to the new `emit`.
 */
export function interceptStops(
  signals: readonly NodeJS.Signals[],
  decide: (stop: StopRequest) => boolean,
): Undo {
  const watched: ReadonlySet<string | symbol> = new Set(signals);
  const own = Object.getOwnPropertyDescriptor(process, "emit");
  const emit = process.emit as unknown as Emit;
  const noteSite = (event: string | symbol, listener: Listener): void => {
    const isStop = watched.has(event) || event === "message";
    const site = isStop && !isOwn(listener) ? callSite() : null;
    if (site !== null) {
      sites.set(listener, site);
    }
  };
  const deciding = function deciding(this: unknown, event: string | symbol, ...args: unknown[]): boolean {
    const isMessage = event === "message" && args[0] === SHUTDOWN;
    const stop = isMessage ? "shutdown message" : watched.has(event) ? (event as NodeJS.Signals) : null;
    if (stop === null || !decide(stop)) {
      return Reflect.apply(emit, this, [event, ...args]);
    }
    for (const raw of process.rawListeners(event)) {
      if (isOwn(raw as Listener)) {
        Reflect.apply(raw, process, args);
      }
    }
    return true;
  };
  process.emit = deciding as unknown as typeof process.emit;
  signals.forEach(rebind);
  process.on("newListener", noteSite);
  return () => {
    process.removeListener("newListener", noteSite);
    // Whoever wrapped ours in the meantime keeps it; it then decides nothing more.
    if (process.emit === (deciding as unknown)) {
      if (own === undefined) {
        delete (process as { emit?: unknown }).emit;
      } else {
        Object.defineProperty(process, "emit", own);
      }
      signals.forEach(rebind);
    }
  };
}

/** Takes the signal's listeners off and puts them back, so that Node binds the signal to the `emit` of now. */
function rebind(signal: NodeJS.Signals): void {
  const raws = process.rawListeners(signal) as Listener[];
  raws.forEach((raw) => process.removeListener(signal, raw));
  raws.forEach((raw) => process.on(signal, raw));
}

/**
 * Asks `hold` about each `process.exit`, and each signal that the process sends to itself to end; true makes the call
 * return and the process live on.
 */
export function interceptExit(hold: (code: number | null) => boolean): Undo {
  const exit = process.exit as unknown as Exit;
  const kill = process.kill;
  const holding: Exit = Object.assign(
    (code?: unknown): unknown =>
      hold(Number(code ?? process.exitCode ?? 0)) ? undefined : Reflect.apply(exit, process, [code]),
    { [REAL_EXIT]: exit[REAL_EXIT] ?? exit },
  );
  const killing: typeof process.kill = (pid, signal) =>
    pid === process.pid && signal !== 0 && hold(null) ? true : Reflect.apply(kill, process, [pid, signal]);
  process.exit = holding as unknown as typeof process.exit;
  process.kill = killing;
  return () => {
    process.exit = exit as unknown as typeof process.exit;
    process.kill = kill;
  };
}

/** Ends the process, whoever holds `process.exit`. */
export function exitProcess(code: number): void {
  const exit = process.exit as unknown as Exit;
  Reflect.apply(exit[REAL_EXIT] ?? exit, process, [code]);
}

function isOwn(listener: Listener): boolean {
  return (listener as { [OWN_LISTENER]?: boolean })[OWN_LISTENER] === true;
}

/** `shutdown (server.js:42)`. */
function nameOf(raw: Listener): string {
  const listener = (raw as { listener?: Listener }).listener ?? raw;
  const site = sites.get(listener) ?? sites.get(raw);
  const name = listener.name === "" ? "a handler" : listener.name.replace(/^bound /, "");
  return site === undefined ? name : `${name} (${site})`;
}

/** The first frame outside of Node and of the library, as `folder/file.js:line`. */
function callSite(): string | null {
  const frames = (new Error("site").stack ?? "").split("\n").slice(3);
  const frame = frames.find((line) => !line.includes("node:") && !line.includes(import.meta.url)) ?? "";
  const match = /(?:\(|at )(?:async )?(?:file:\/\/)?([^()]+):(\d+):\d+\)?$/.exec(frame);
  return match === null ? null : `${match[1]?.split("/").slice(-2).join("/")}:${match[2]}`;
}
