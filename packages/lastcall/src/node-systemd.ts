/**
 * Talks to systemd by its own programs: Node has no datagram sockets of the unix family. Root's `systemd-notify` speaks
 * in the name of this process; another user's needs `NotifyAccess=all` in the unit.
 */

import { execFileSync, spawn, type ChildProcess } from "node:child_process";
import { readFileSync } from "node:fs";
import { unitOf, type SystemdUnit } from "./platform/systemd.ts";

/** A helper that has not said its word by then finds nobody who reads. */
const PATIENCE_MS = 2000;

/** Asking systemd takes 5 to 15 ms; one that does not answer must not keep the service from starting. */
const ASK_MS = 2000;

let isMissing = false;

/** What waits for its turn: two helpers at once would speak in any order. */
const waiting: { readonly assignments: readonly string[]; readonly failed: (why: string) => void }[] = [];
let running: ChildProcess | null = null;

/** Sends assignments such as `READY=1`. Nothing without NOTIFY_SOCKET, and a socket that nobody reads costs nothing. */
export function notifySystemd(assignments: readonly string[], failed: (why: string) => void): void {
  if (!process.env["NOTIFY_SOCKET"] || isMissing) {
    return;
  }
  waiting.push({ assignments: withTime(assignments), failed });
  if (running === null) {
    speak();
  }
}

function speak(): void {
  const next = waiting.shift();
  if (next === undefined || isMissing) {
    return;
  }
  const { assignments, failed } = next;
  // Another user's helper is known by its own process id, so it must live until systemd has read what it says.
  const isRoot = process.getuid?.() === 0;
  const helper = spawn("systemd-notify", [...(isRoot ? ["--no-block"] : []), ...assignments], {
    stdio: "ignore",
  });
  running = helper;
  helper.unref();
  const startedAt = performance.now();
  const giveUp = (): void => void helper.kill("SIGKILL");
  const timer = setTimeout(giveUp, PATIENCE_MS).unref();
  // One that has just begun will be through in a moment, and outlives us for that long.
  const atExit = (): void => {
    if (performance.now() - startedAt > PATIENCE_MS / 2) {
      giveUp();
    }
  };
  process.once("exit", atExit);
  const over = (why: string | null): void => {
    clearTimeout(timer);
    process.removeListener("exit", atExit);
    running = null;
    if (why !== null) {
      failed(why);
    }
    speak();
  };
  helper.once("error", (error) => {
    isMissing = true;
    over(`systemd-notify cannot be started: ${error.message}`);
  });
  helper.once("exit", (code) => {
    over(
      code === 0
        ? null
        : `systemd-notify ended with ${code ?? "no answer"}: nobody reads NOTIFY_SOCKET, or the unit does not allow it`,
    );
  });
}

/** `Type=notify-reload` wants to know when the reload began, on the clock that Node's high-resolution time is on Linux. */
function withTime(assignments: readonly string[]): readonly string[] {
  return assignments.includes("RELOADING=1")
    ? [...assignments, `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`]
    : assignments;
}

let asked: { readonly unit: SystemdUnit | null } | null = null;

/** The unit of which this process is the main one, and what it grants; null outside of systemd, and below a wrapper. */
export function readSystemdUnit(): SystemdUnit | null {
  asked ??= { unit: askSystemd() };
  return asked.unit;
}

function askSystemd(): SystemdUnit | null {
  if (process.env["SYSTEMD_EXEC_PID"] !== String(process.pid)) {
    return null;
  }
  try {
    const unit = unitOf(readFileSync("/proc/self/cgroup", "utf8"));
    return unit === null ? null : { name: unit.name, timeoutStop: readTimeoutStop(unit) };
  } catch {
    // No /proc, no systemd.
    return null;
  }
}

function readTimeoutStop({ name, isUsers }: NonNullable<ReturnType<typeof unitOf>>): string | null {
  try {
    const show = [
      ...(isUsers ? ["--user"] : []),
      "show",
      "--property=TimeoutStopUSec",
      "--value",
      "--",
      name,
    ];
    return execFileSync("systemctl", show, {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
      timeout: ASK_MS,
    }).trim();
  } catch {
    return null;
  }
}
