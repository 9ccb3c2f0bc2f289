/** The report of `lastcall lag` for a terminal of 100 columns. Pure. */

import type { LagFindings } from "../lag/findings.ts";
import { seconds } from "./timeline.ts";
import { wrapText, type Style } from "./style.ts";

const WIDTH = 100;
const LABEL = 14;
const INSTANCES_SHOWN = 8;

function labelled(label: string, text: string, style: Style): string {
  return `  ${style.dim(label.padEnd(LABEL))}${wrapText(text, WIDTH, " ".repeat(LABEL + 2)).slice(LABEL + 2)}`;
}

const count = (n: number, one: string): string => `${n} ${one}${n === 1 ? "" : "s"}`;

function lagLines(found: LagFindings, style: Style): readonly string[] {
  if (found.nobodyListened) {
    const gaps = found.losses.map(({ firstMs, lastMs }) => seconds(lastMs - firstMs)).join(", ");
    return [
      ...found.marks.map(({ atMs, what }) => labelled("stop", `${what} at ${seconds(atMs)} s`, style)),
      labelled(
        "router's lag",
        `none: nobody listened for ${gaps} s, so no router was in between. What helps there is a second instance behind a router, or \`lastcall-takeover\`, which holds the socket.`,
        style,
      ),
    ];
  }
  const around = `±${seconds(found.resolutionMs)} s, the time between two requests to one instance`;
  const marked = found.marks.map(({ atMs, what, lagMs, sign }) =>
    labelled(
      "stop",
      `${what} at ${seconds(atMs)} s: ${lagMs === null ? sign : `the router still sent to the leaving instance ${seconds(lagMs)} s later (${sign})`}`,
      style,
    ),
  );
  switch (found.lagIs) {
    case "measured":
      return [...marked, labelled("router's lag", `${seconds(found.lagMs ?? 0)} s (${around})`, style)];
    case "at least":
      return [
        ...marked,
        labelled(
          "router's lag",
          `at least ${seconds(found.lagMs ?? 0)} s, from the first loss to the last. When the stop began is not known: press Enter at that moment, or give the command that stops the instance after --.`,
          style,
        ),
      ];
    case "unknown":
      return [
        ...marked,
        labelled(
          "router's lag",
          found.marks.length > 0
            ? `not seen: no request was lost, and ${
                found.instances.length > 0
                  ? "no instance that answered has left."
                  : "no answer says which instance made it. Name the header in which yours do with --instance-header."
              }`
            : "nothing was seen to leave",
          style,
        ),
      ];
  }
}

export function renderLag(found: LagFindings, url: string, lastedMs: number, style: Style): string {
  const { sent, lost, slow, losses, windows, instances, heldBack } = found;
  const head = `${count(sent, "request")} to ${url} in ${seconds(lastedMs)} s: ${lost === 0 ? "none lost" : `${lost} lost`}${slow === 0 ? "" : `, ${slow} slow`}`;
  const lines = [style.bold(wrapText(head, WIDTH, "")), ...lagLines(found, style)];
  for (const { title, why, count: times, firstMs, lastMs } of losses) {
    const when = times === 1 ? `at ${seconds(firstMs)} s` : `${seconds(firstMs)} to ${seconds(lastMs)} s`;
    lines.push(labelled("lost", `${times} x ${title}, ${when}: ${why}`, style));
  }
  if (windows.length > 1) {
    const each = windows.map((one) => `${seconds(one.fromMs)} to ${seconds(one.toMs)} s (${one.count})`);
    lines.push(labelled("windows", each.join(", "), style));
  }
  for (const { name, answers, firstMs, lastMs } of instances.slice(0, INSTANCES_SHOWN)) {
    lines.push(
      labelled(
        "instance",
        `${name}: ${count(answers, "answer")}, ${seconds(firstMs)} to ${seconds(lastMs)} s`,
        style,
      ),
    );
  }
  if (instances.length > INSTANCES_SHOWN) {
    lines.push(labelled("", `and ${instances.length - INSTANCES_SHOWN} more`, style));
  }
  if (heldBack > 0) {
    lines.push(
      labelled("not sent", `${count(heldBack, "request")}: too many were waiting for an answer`, style),
    );
  }
  if (found.drainDelayMs !== null) {
    const because = found.lagIs === "measured" ? "" : ", at least";
    lines.push(labelled("would set", `drainDelayMs ${found.drainDelayMs}${because}`, style));
  }
  const last = !found.restartSeen
    ? style.yellow("Nothing was seen to restart: this says nothing about a restart.")
    : lost > 0
      ? style.red(`A restart cost ${count(lost, "request")}.`)
      : style.green("Nothing was lost.");
  return `${lines.join("\n")}\n\n${last}\n`;
}
