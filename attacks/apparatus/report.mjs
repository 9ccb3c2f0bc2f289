// The attacks' figures as a table on a terminal, and as docs/attacks.md. Nothing is decided here.
import { MEASURES } from "./judge.mjs";

const COLUMNS = Object.keys(MEASURES);
/** How the controls stop, in words, by what service.mjs calls them. */
export const STOPS = {
  usual: "`server.close()` at the signal",
  forced: "`server.close()`, and an exit when the limit is over",
  "by-hand": "a drain delay by hand, then `server.close()`",
  refuses: "503 and close to all that comes, then `server.close()`",
  exits: "an exit at the signal",
};

export function verdictOf({ broken, blind, notRun }) {
  if (notRun !== null) return "not run";
  if (broken.length > 0) return "BROKEN";
  return blind.length > 0 ? "proves nothing" : "kept";
}

/** For the table over all: with why what was lost is no breach, and with what hurt the control where no column shows it. */
function inShort(one, remains) {
  const unseen = Object.keys(one.hurts).filter((measure) => !Object.hasOwn(MEASURES, measure));
  return [
    verdictOf(one),
    ...(verdictOf(one) === "kept" && one.lastcall.lost > 0 ? [`lost: ${remains}`] : []),
    ...unseen.map((measure) => `control: ${one.control?.more[measure] ?? "-"} ${measure}`),
  ].join("; ");
}

/** Why a row is not `kept`, one line each. */
function reasons({ broken, blind, notRun }) {
  return [...(notRun === null ? [] : [notRun]), ...broken, ...blind];
}

const figures = (seen) => COLUMNS.map((name) => (seen === null ? "-" : String(seen[name])));

function aligned(lines) {
  const widths = lines[0].map((_, at) => Math.max(...lines.map((line) => line[at].length)));
  return lines.map((line) =>
    line
      .map((cell, at) =>
        at === 0 || at === line.length - 1 ? cell.padEnd(widths[at]) : cell.padStart(widths[at]),
      )
      .join("  ")
      .trimEnd(),
  );
}

/** Figures of lastcall and, behind the stroke, of the control; below each row the sentence that says what it means. */
export function textTable(results) {
  const short = ["exposed", "lost", "executed", "twice", "unseen"];
  const table = aligned([
    ["attack, aimed at", ...short, "|", ...short, ""],
    ...results.flatMap(({ title, rows }) => [
      [title, ...short.map(() => ""), "", ...short.map(() => ""), ""],
      ...rows.map((row) => [
        `  ${row.name}`,
        ...figures(row.lastcall),
        "|",
        ...figures(row.control),
        verdictOf(row),
      ]),
    ]),
  ]);
  const [head, ...lines] = table;
  const below = results.flatMap(({ rows }) => [[], ...rows.map((row) => [row.says, ...reasons(row)])]);
  return [
    "lastcall | the usual stop. executed: lost although executed; twice: executed twice; unseen: cut and taken for whole",
    "",
    head,
    ...lines.flatMap((line, n) => [line, ...below[n].filter(Boolean).map((text) => `      ${text}`)]),
  ].join("\n");
}

const escape = (text) => text.replaceAll("|", "\\|");
const row = (cells) => `| ${cells.map((cell) => escape(String(cell))).join(" | ")} |`;

function details({ lastcall, control, name }) {
  const say = (seen) =>
    Object.entries(seen.more)
      .filter(([, value]) => value > 0)
      .map(([measure, value]) => `${measure} ${value}`)
      .concat(Object.entries(seen.kinds ?? {}).map(([kind, count]) => `${kind} ${count}`))
      .join(", ");
  return lastcall === null
    ? []
    : [
        `- ${name}. lastcall: ${say(lastcall) || "nothing else"}. Control: ${say(control) || "nothing else"}.`,
      ];
}

function section({ title, argument, promise, found, rows }) {
  return [
    `## ${title}`,
    "",
    argument,
    "",
    `*Promised.* ${promise}`,
    "",
    ...(found === undefined ? [] : [`*Found by it, and mended.* ${found}`, ""]),
    row(["aimed at", "stop", ...Object.values(MEASURES), "verdict"]),
    row(["---", "---", ...COLUMNS.map(() => "---:"), "---"]),
    ...rows.flatMap((one) => [
      row([one.name, "lastcall", ...figures(one.lastcall), verdictOf(one)]),
      row(["", STOPS[one.stop] ?? one.stop, ...figures(one.control), "control"]),
    ]),
    "",
    ...rows.map((one) => `- **${one.name}**: ${[one.says, ...reasons(one)].filter(Boolean).join(" ")}`),
    "",
    "<details><summary>What else was counted</summary>",
    "",
    ...rows.flatMap(details),
    "",
    "</details>",
    "",
  ];
}

/** docs/attacks.md: one table over all, then a section for each. */
export function page({ at, machine, seconds, attacks, judgedBy }) {
  const total = (name) =>
    attacks.flatMap(({ rows }) => rows).reduce((sum, one) => sum + (one.lastcall?.[name] ?? 0), 0);
  return [
    "# Attacks on our own claim",
    "",
    "“0 lost” is a claim that an expert knows how to break. Here is each way that we know of, as a scenario file in [attacks](../attacks/README.md), run",
    "against a service on the library and, as a control, against the stop that one usually meets: an attack that hurts nobody proves nothing.",
    "The figures are those of one run, good or bad. `npm run attacks` makes them again (`npm run attacks -- linger stall` some of them), and ends with exit code 1",
    "when a row does what [the contract](contract.md) forbids.",
    "",
    `Run on ${at.slice(0, 10)} in ${Math.round(seconds)} s: Node ${machine.node}, ${machine.routers.join(", ")}, Linux ${machine.kernel}, ${machine.cores} cores, load ${machine.load.map((one) => one.toFixed(1)).join(" before and ")} after.`,
    "",
    row([
      "attack",
      "aimed at",
      "exposed",
      "lost",
      "executed twice",
      "cut and taken for whole",
      "control: lost",
      "twice",
      "taken for whole",
      "",
    ]),
    row(["---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---"]),
    ...attacks.flatMap(({ title, remains, rows }) =>
      rows.map((one, n) => {
        const cells = (seen, names) => names.map((name) => seen?.[name] ?? "-");
        return row([
          n === 0 ? `[${title}](#${anchor(title)})` : "",
          one.name,
          ...cells(one.lastcall, ["exposed", "lost", "executedTwice", "truncated"]),
          ...cells(one.control, ["lost", "executedTwice", "truncated"]),
          inShort(one, remains),
        ]);
      }),
    ),
    "",
    `In all rows together ${total("exposed")} requests were exposed to a stop of lastcall: ${total("lost")} were lost, ${total("lostExecuted")} of these had been executed, ${total("executedTwice")} were executed twice, and ${total("truncated")} were cut and taken for whole.`,
    "",
    "**exposed**: sent to the leaving copy, or meant for it, between its stop signal and its end. **lost**: no whole answer, and no clear no either; behind a router",
    "whatever its client saw fail. **lost although executed**: the client heard nothing, and the order is in the service's own list. **executed twice**: it is there",
    "twice. **cut and taken for whole**: the answer was cut, and nothing in how it ended said so. **proves nothing**: the control was not hurt. What no row may show is",
    `in [judge.mjs](../attacks/apparatus/judge.mjs): ${judgedBy}; what a row forbids besides stands in its file.`,
    "",
    ...attacks.flatMap(section),
  ].join("\n");
}

/** As GitHub makes them out of headings. */
function anchor(title) {
  return title
    .toLowerCase()
    .replaceAll(/[^\w\- ]/g, "")
    .replaceAll(" ", "-");
}
