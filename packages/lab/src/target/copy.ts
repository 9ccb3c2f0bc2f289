/**
 * One copy of the service: a child process that leads its own group, started with a port of its own, watched from its
 * start to its exit. What happens to it is told as events on the run's clock.
 */

import { setTimeout as sleep } from "node:timers/promises";
import { LabError } from "../errors.ts";
import type { RunClock } from "../ledger/clock.ts";
import type { EventRecord } from "../ledger/records.ts";
import { startChild } from "./child.ts";
import { killGroup, type Guardian } from "./guardian.ts";
import { lastWords } from "./last-words.ts";
import { captureOutput } from "./output.ts";
import { groupMembers, programsFrom } from "./process-tree.ts";
import { adviceOnEnd, whereItListens } from "./start-advice.ts";
import { listens, probe, probeHttp2, probeUntil, type Readiness, usualReadiness } from "./readiness.ts";

export interface CopySpec {
  /** `A`, `B`, ...; a replacement is `A2`. */
  readonly name: string;
  /** `{port}`, `{copy}` and `{drainDelay}` are filled in by `fillCommand` before. */
  readonly command: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly port: number;
  readonly readyPath: string;
  readonly readyTimeoutMs: number;
  /** It is asked by HTTP/2; absent: by HTTP/1.1. */
  readonly speaksHttp2?: boolean;
  /** Asked while it leaves, where the service has it: a copy that drains is alive. */
  readonly livePath: string | null;
  /** Takes all that the copy prints. */
  readonly outputFile: string;
}

export interface CopyExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly atMs: number;
}

export interface Copy {
  readonly name: string;
  /** Where it is reached, if it is not 127.0.0.1. */
  readonly host?: string;
  readonly port: number;
  readonly pid: number;
  /** Resolves when readiness answers 200; rejects when the copy ends before, or takes too long. */
  ready(): Promise<void>;
  /** Resolves when the stop signal has really been sent, where something else than the lab sends it. */
  readonly signalled?: Promise<void>;
  /** Sends the signal; SIGKILL follows after the grace period. Resolves with the exit. */
  stop(signal: NodeJS.Signals, gracePeriodMs: number): Promise<CopyExit>;
  readonly exited: Promise<CopyExit>;
  /** Null while it runs. */
  exit(): CopyExit | null;
  tail(lines: number): readonly string[];
  /** Ends the whole group at once, if anything is left of it. */
  end(): Promise<void>;
}

export interface CopyContext {
  readonly clock: RunClock;
  readonly guardian: Guardian;
  readonly emit: (event: EventRecord) => void;
}

const PROBE_WHILE_STARTING_MS = 25;
const PROBE_WHILE_LEAVING_MS = 50;
/** As an orchestrator does all the time: a service may learn from it that someone asks. */
const PROBE_WHILE_SERVING_MS = 1000;
/** More than are shown: stack frames are left out. */
const TAIL_LINES = 40;

export function fillCommand(
  command: readonly string[],
  values: Readonly<Record<string, string>>,
): readonly string[] {
  return command.map((part) =>
    part.replaceAll(/\{(\w+)\}/g, (whole: string, name: string) => values[name] ?? whole),
  );
}

export function describeExit(exit: Pick<CopyExit, "code" | "signal">): string {
  return exit.signal === null ? `exit code ${exit.code ?? 0}` : exit.signal;
}

/** Starts it; resolves when the process exists. */
export async function startCopy(spec: CopySpec, context: CopyContext): Promise<Copy> {
  const { clock, guardian } = context;
  const emit = (event: EventRecord["event"], detail: EventRecord["detail"]): void =>
    context.emit({ kind: "event", atMs: clock.now(), source: "target", copy: spec.name, event, detail });
  const startedMs = clock.now();
  const env = { ...spec.env, PORT: String(spec.port), COPY: spec.name };
  const { pid, process: child } = await startChild({ command: spec.command, env, cwd: spec.cwd }, guardian);
  emit("started", { pid, port: spec.port });
  const output = captureOutput([child.stdout, child.stderr], spec.outputFile);
  const serving = new AbortController();
  let told = false;
  /** The whole group, which takes a moment to go: nobody is left behind. */
  let killed = false;
  let ended: CopyExit | null = null;
  const exited = new Promise<CopyExit>((resolve) => {
    child.once("exit", (code, signal) => {
      const atMs = clock.now();
      const exit = { code, signal, atMs };
      ended = exit;
      serving.abort();
      // A helper that ends a moment later is nobody's fault; the one that still listens is the service itself.
      const outlived = !killed && groupMembers(pid) > 0 ? listens(spec.port) : Promise.resolve(false);
      void outlived.then((leftBehind) => {
        context.emit({
          kind: "event",
          atMs,
          source: "target",
          copy: spec.name,
          event: "exited",
          detail: { code, signal, asked: told, ...(leftBehind ? { leftBehind } : {}) },
        });
        // What a wrapper leaves behind would be ended by any platform too, and must not outlive its copy here.
        guardian.release(pid);
        resolve(exit);
      });
    });
  });

  const probeBy = spec.speaksHttp2 === true ? probeHttp2 : probe;
  const ask = (
    path: string,
    everyMs: number,
    until: (seen: Readiness) => boolean,
    aborted: AbortSignal,
  ): Promise<Readiness | null> => probeUntil(spec.port, path, everyMs, until, aborted, "127.0.0.1", probeBy);

  const ready = async (): Promise<void> => {
    const timeout = AbortSignal.timeout(spec.readyTimeoutMs);
    const stop = AbortSignal.any([timeout, serving.signal]);
    let last: number | string = "nothing";
    const seen = await ask(spec.readyPath, PROBE_WHILE_STARTING_MS, (now) => (last = now) === 200, stop);
    if (seen === 200) {
      emit("ready", { afterMs: Math.round(clock.now() - startedMs) });
      void ask(spec.readyPath, PROBE_WHILE_SERVING_MS, () => false, serving.signal);
      return;
    }
    if (ended !== null) {
      await output.close(); // Its last lines may still be on their way.
      const tail = output.tail(TAIL_LINES);
      throw new LabError(
        "LAB_TARGET_DIED",
        `Copy ${spec.name} ended before it was ready (${describeExit(ended)}).${lastWords(tail)}`,
        adviceOnEnd(ended, tail.join("\n"), {
          taken: "Let it listen on the port it is given: PORT in its environment, or {port} in the command.",
          otherwise: "Run the command by hand with PORT set; its whole output is in the run folder.",
        }),
      );
    }
    const other = typeof last === "number" ? await usualReadiness(spec.port, probeBy) : null;
    throw new LabError(
      "LAB_TARGET_NOT_READY",
      `Copy ${spec.name} was not ready within ${spec.readyTimeoutMs / 1000} s: GET http://127.0.0.1:${spec.port}${spec.readyPath} gave ${last}.${last === "ECONNREFUSED" ? whereItListens(pid, spec.port) : ""}${lastWords(output.tail(TAIL_LINES))}`,
      last === "ECONNREFUSED"
        ? "Let it listen on PORT (or {port} in the command) on 127.0.0.1, or raise --ready-timeout."
        : other === null || other === spec.readyPath
          ? "Name its readiness path with --ready, or raise --ready-timeout."
          : `${other} answers 200: --ready ${other}, or raise --ready-timeout.`,
    );
  };

  const stop = async (signal: NodeJS.Signals, gracePeriodMs: number): Promise<CopyExit> => {
    if (ended !== null) {
      return ended;
    }
    told = true;
    serving.abort();
    emit("signal", { signal, ...programsFrom(pid) });
    if (signal === "SIGKILL") {
      // Whoever kills a container kills all of it.
      killed = true;
      killGroup(pid);
    } else {
      child.kill(signal);
    }
    const over = new AbortController();
    const watchReadiness = async (): Promise<void> => {
      const seen = await ask(
        spec.readyPath,
        PROBE_WHILE_LEAVING_MS,
        (now) => now !== 200 && now !== "TIMEOUT",
        over.signal,
      );
      if (seen !== null) {
        emit("not-ready", { seen });
      }
    };
    const watchLiveness = async (path: string): Promise<void> => {
      const seen = await ask(
        path,
        PROBE_WHILE_LEAVING_MS,
        (now) => typeof now === "number" && now >= 400,
        over.signal,
      );
      if (seen !== null) {
        emit("not-live", { seen });
      }
    };
    const killWhenOver = async (): Promise<void> => {
      // Rejects when the copy has ended in time.
      const inTime = await sleep(gracePeriodMs, false, { signal: over.signal }).catch(() => true);
      if (!inTime) {
        emit("killed", { signal: "SIGKILL", afterMs: gracePeriodMs, reason: "grace period over" });
        killed = true;
        killGroup(pid);
      }
    };
    const watchers = [
      killWhenOver(),
      ...(signal === "SIGKILL" ? [] : [watchReadiness()]),
      ...(signal === "SIGKILL" || spec.livePath === null ? [] : [watchLiveness(spec.livePath)]),
    ];
    const exit = await exited;
    over.abort();
    await Promise.all(watchers);
    return exit;
  };

  return {
    name: spec.name,
    port: spec.port,
    pid,
    ready,
    stop,
    exited,
    exit: () => ended,
    tail: (lines) => output.tail(lines),
    end: async () => {
      serving.abort();
      guardian.release(pid);
      await exited;
      await output.close();
    },
  };
}
