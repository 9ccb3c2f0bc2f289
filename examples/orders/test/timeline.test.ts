import assert from "node:assert/strict";
import test from "node:test";
import { formatTimeline, mergeTimeline } from "../src/timeline.ts";

const at = (ms: number): string => new Date(ms).toISOString();
const events = [
  { wallMs: 1000, event: "started", pid: 7, build: "naive" },
  { wallMs: 3500, event: "signal", pid: 7, signal: "SIGTERM" },
  { wallMs: 5250, event: "exit", pid: 7, code: 0, unsentMails: 1 },
].map((event) => JSON.stringify(event));
const access = [
  `${at(3200)} START #1 GET /work?seconds=2`,
  `${at(5200)} FINISH #1 GET /work?seconds=2 200 2000ms`,
];

test("access log and events become one timeline in seconds since the signal", () => {
  assert.equal(
    formatTimeline(mergeTimeline(events.join("\n"), access.join("\n"))),
    [
      "   -2.500 s  event   started build=naive",
      "   -0.300 s  access  START #1 GET /work?seconds=2",
      "    0.000 s  event   signal signal=SIGTERM",
      "    1.700 s  access  FINISH #1 GET /work?seconds=2 200 2000ms",
      "    1.750 s  event   exit code=0 unsentMails=1",
      "",
    ].join("\n"),
  );
});

test("without a signal the timeline starts with its first line", () => {
  const moments = mergeTimeline(events[0] ?? "", access.join("\n"));
  assert.deepEqual(
    moments.map(({ seconds }) => seconds),
    [0, 2.2, 4.2],
  );
});

test("what a SIGKILL tore is left out", () => {
  const torn = `${events.join("\n")}\n{"wallMs":6000,"ev`;
  const moments = mergeTimeline(torn, `${access.join("\n")}\n${at(6000).slice(0, 9)}`);
  assert.equal(moments.length, 5);
});
