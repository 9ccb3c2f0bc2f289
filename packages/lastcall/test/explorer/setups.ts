/** The configurations under which all orders are walked: each takes another way through the code. */

import type { Setup } from "./world.ts";

const TIMES = {
  gracePeriodMs: 5000,
  drainDelayMs: 300,
  gracefulTimeoutMs: 600,
  teardownTimeoutMs: 400,
  lingerMs: 150,
  abortWindowMs: 100,
  log: "none",
} as const;

export const SETUPS: readonly Setup[] = [
  { name: "announce first, with a delay", options: { ...TIMES, leaveOrder: "announce-first" } },
  {
    name: "listener first",
    options: { ...TIMES, leaveOrder: "listener-first" },
  },
  {
    name: "respond mode",
    options: { ...TIMES, drainDelayMs: 100, leaveOrder: "announce-first", admission: "respond" },
  },
  {
    name: "boundary handler, from a terminal",
    options: { ...TIMES, leaveOrder: "announce-first", boundary: "handler" },
    terminal: true,
  },
  {
    name: "no delay, and time to settle",
    options: { ...TIMES, drainDelayMs: 0, leaveOrder: "announce-first", settleMs: 200 },
  },
];
