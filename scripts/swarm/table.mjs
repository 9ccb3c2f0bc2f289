// What the rows of `npm run swarm` have shown, as the table that stands in the docs.
import { RATE } from "./row.mjs";

const seconds = (ms) => (ms === null ? "-" : `${(ms / 1000).toFixed(2)} s`);

/** What it says of one row, in this order. */
const LINES = {
  requests: ({ row }) => String(row.sent),
  lost: ({ row, lost }) => `${lost} (${row.getFailed} GET, ${row.postFailed} POST)`,
  why: ({ row }) =>
    row.verdict.kinds.map(({ count, title }) => `${count} ${title.toLowerCase()}`).join(", ") || "-",
  "stored = told": ({ row }) =>
    row.rows === null
      ? "?"
      : `${row.rows} = ${row.acknowledged}${row.rows === row.acknowledged ? "" : " NO"}`,
  "tasks replaced": ({ row }) => String(row.verdict.restarts.length),
  order: ({ order }) => order?.join(" ").replace(/^order +/, "") ?? "-",
  "exit codes": ({ row }) =>
    row.verdict.restarts.map((one) => one.exitCode ?? one.exitSignal ?? "?").join(" "),
  "signal to exit": ({ row }) =>
    seconds(Math.max(...row.verdict.restarts.map((one) => (one.exitMs ?? one.signalMs) - one.signalMs))),
  slowest: ({ row }) => seconds(row.slowestMs),
  "shows it": ({ shows }) => (shows === null ? "invalid run" : shows ? "yes" : "NO"),
};

export function printTable(results) {
  const lines = [
    ["", ...results.map(({ title }) => title)],
    ...Object.entries(LINES).map(([name, told]) => [name, ...results.map(told)]),
  ];
  const widths = lines[0].map((_, n) => Math.max(...lines.map((line) => line[n].length)));
  console.log(
    `\nDocker Swarm, ${RATE} requests a second through HAProxy (no retries, names looked up every 10 s, out after three failed checks, 0.5 s apart)\n`,
  );
  for (const line of lines) {
    const cells = line.map((text, n) => text.padEnd(widths[n]));
    console.log(cells.join("  ").trimEnd());
  }
}
