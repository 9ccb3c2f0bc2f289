/** What went wrong, kind by kind: how often, why, what to change, and three requests of each as they went. */

import type { RunReport } from "../../report/run-report.ts";
import type { BadRequest, Confidence, KindTally } from "../../verdict/verdict.ts";
import { badge, cssColour, lookOf } from "./kinds.ts";
import { escape, place, prose } from "./markup.ts";
import { duration, grouped, plural } from "../numbers.ts";

const CONFIDENCE: Readonly<Record<Confidence, string>> = {
  proven: "proven by a rerun",
  certain: "witnesses agree",
  likely: "likely",
  possible: "possible: only its shape in time speaks for it",
};

interface Step {
  readonly name: string;
  readonly fromMs: number;
  readonly toMs: number;
}

/** The way of a request, as far as it came. */
function stepsOf({ request }: BadRequest): readonly Step[] {
  const { intendedMs, dispatchedMs, connectedMs, writtenMs, firstByteMs, endedMs } = request;
  const steps: Step[] = [];
  let at = intendedMs;
  const add = (name: string, toMs: number | null): void => {
    if (toMs !== null && toMs > at) {
      steps.push({ name, fromMs: at, toMs });
      at = toMs;
    }
  };
  add("due", dispatchedMs);
  add("connect", connectedMs);
  add("write", writtenMs);
  add("wait", firstByteMs);
  add(firstByteMs === null ? (request.stage ?? "wait") : "body", endedMs);
  return steps;
}

function waterfall(bad: BadRequest, kind: number): string {
  const steps = stepsOf(bad);
  const from = bad.request.intendedMs;
  const to = Math.max(bad.request.endedMs, from + 0.01);
  const bars = steps.map(
    ({ name, fromMs, toMs }) =>
      `<rect class="w-${name}" x="${place(fromMs, from, to)}" width="${place(toMs - fromMs, 0, to - from)}" y="2" height="10"><title>${name} ${duration(toMs - fromMs)}</title></rect>`,
  );
  const words = steps.map(({ name, fromMs, toMs }) => `${name} ${duration(toMs - fromMs)}`).join(" · ");
  return `<div class="fall"><svg width="100%" height="14" aria-hidden="true">${bars.join("")}</svg>${badge(kind)}</div><p class="steps">${words === "" ? "it ended in the moment in which it was due" : words}</p>`;
}

function answerOf({ request }: BadRequest): string {
  return request.fate === "answered" ? `status ${request.status}` : `${request.error} in ${request.stage}`;
}

function factsOf(bad: BadRequest, report: RunReport): readonly (readonly [string, string])[] {
  const { request } = bad;
  const { connection, bytes } = request;
  const [addresses, statuses] = (request.upstream ?? "").split("|");
  const promised = bytes.promised === null ? "" : ` of ${grouped(bytes.promised)} promised`;
  const reused =
    connection.reuse === 0
      ? "new"
      : `${plural(connection.reuse, "request")} before this one, ${duration(connection.ageMs)} old`;
  const closed = connection.closedFirst === null ? "" : `; closed first by the ${connection.closedFirst}`;
  return [
    ["seen", bad.evidence],
    ["due", `${duration(request.intendedMs - report.window.fromMs)} into the load`],
    ["connection", `#${connection.id}, ${reused}${closed}`],
    ["bytes", `${grouped(bytes.got)}${promised}`],
    ...(request.upstream === null ? [] : [["router tried", `${addresses} → ${statuses}`] as const]),
    ...(bad.worked === null
      ? []
      : [["worked on", bad.worked === 0 ? "never" : plural(bad.worked, "time")] as const]),
    ...(bad.stored === null
      ? []
      : [["stored", bad.stored === 0 ? "never" : plural(bad.stored, "time")] as const]),
  ];
}

function trace(bad: BadRequest, kind: number, report: RunReport): string {
  const { request } = bad;
  const facts = factsOf(bad, report)
    .map(([name, text]) => `<dt>${name}</dt><dd>${escape(text)}</dd>`)
    .join("");
  return `<article class="trace"><h4><b>${escape(request.method)}</b> <code>${escape(request.path)}</code> <span>${escape(answerOf(bad))}</span></h4>${waterfall(bad, kind)}<dl>${facts}</dl></article>`;
}

function wherePhrase({ copies, restarts }: KindTally): string {
  const names = Object.entries(copies).map(([name, count]) =>
    name === "?" ? `${grouped(count)} at no copy` : `${grouped(count)} at ${name}`,
  );
  const shown = names.length > 6 ? [...names.slice(0, 6), `${names.length - 6} more copies`] : names;
  return `${shown.join(", ")}; in ${plural(restarts.length, "restart")}`;
}

/** Something that was found without a lost request. */
function finding({ title, id, why, advice, evidence, confidence, fails }: KindTally): string {
  const tone = fails ? "it must not stand" : "nothing was lost by it";
  return `<section class="kind"><h3>${escape(title)} <small>${escape(id)}, ${CONFIDENCE[confidence]}; ${tone}</small></h3>
<p class="why">${prose(why)}</p><p class="fix">${prose(advice)}</p><p class="where">${escape(evidence)}</p></section>`;
}

function section(kind: KindTally, index: number, most: number, report: RunReport): string {
  const { title, id, count, get, post, chargedTo, why, advice, confidence, examples } = kind;
  const traces = examples.map((bad) => trace(bad, index, report)).join("");
  const how =
    examples.length < count
      ? `${examples.length} of ${grouped(count)}, request by request`
      : "Request by request";
  return `<section class="kind" id="kind-${index}"><h3>${badge(index)}${escape(title)} <small>${escape(id)}, ${CONFIDENCE[confidence]}</small></h3>
<div class="bar"><svg width="100%" height="8" aria-hidden="true"><rect style="fill:${cssColour(lookOf(index).colour)}" width="${place(count, 0, most)}" height="8"/></svg><p><b>${grouped(count)}</b> ${grouped(get)} GET, ${grouped(post)} POST; charged to the ${chargedTo}</p></div>
<p class="why">${prose(why)}</p><p class="fix">${prose(advice)}</p><p class="where">${escape(wherePhrase(kind))}</p>
<details${index === 0 ? " open" : ""}><summary>${how}</summary><div class="traces">${traces}</div></details></section>`;
}

export function kindsSection(report: RunReport): string {
  const { kinds } = report.verdict;
  if (kinds.length === 0) {
    return "";
  }
  const most = Math.max(1, ...kinds.map(({ count }) => count));
  const heading = kinds.some(({ count }) => count > 0) ? "What went wrong" : "What was found";
  return `<section id="kinds"><h2>${heading}</h2>${kinds.map((kind, index) => (kind.count === 0 ? finding(kind) : section(kind, index, most, report))).join("")}</section>`;
}
