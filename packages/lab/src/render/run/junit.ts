/** A judged run as JUnit: one case for each restart, so that a pipeline names the one that lost something. */

import type { RunReport } from "../../report/run-report.ts";
import type { BadRequest } from "../../verdict/verdict.ts";
import { duration, plural } from "../numbers.ts";
import { xml } from "../xml.ts";

/** Bad requests told in a case; the count is whole. */
const TOLD = 20;

interface Case {
  readonly name: string;
  readonly seconds: number;
  readonly bad: readonly BadRequest[];
}

export function reportJunit({ verdict, bad }: RunReport): string {
  const charged = new Map(verdict.kinds.map((kind) => [kind.slug, kind]));
  const service = bad.filter(({ kind }) => charged.get(kind)?.chargedTo === "service");
  const cases: Case[] = verdict.restarts.map((restart, index) => ({
    name: `restart ${index + 1}: ${restart.signal} to ${restart.copy}`,
    seconds: ((restart.replacement?.addedMs ?? restart.exitMs ?? restart.signalMs) - restart.signalMs) / 1000,
    bad: service.filter((one) => one.restart === index),
  }));
  cases.push({
    name: "between the restarts",
    seconds: 0,
    bad: service.filter((one) => one.restart === null),
  });
  const told = cases.map(({ name, seconds, bad: own }) => {
    const open = `    <testcase classname="lastcall.${xml(verdict.run.scenario)}" name="${xml(name)}" time="${seconds.toFixed(3)}"`;
    if (own.length === 0) {
      return `${open}/>`;
    }
    const lines = own
      .slice(0, TOLD)
      .map(
        ({ kind, request, evidence }) =>
          `${charged.get(kind)?.title ?? kind}: ${request.method} ${request.path} (${request.id}): ${evidence}`,
      );
    const rest = own.length > TOLD ? [`and ${own.length - TOLD} more`] : [];
    const message = `${plural(own.length, "request")} went wrong`;
    return `${open}><failure message="${xml(message)}">${xml([...lines, ...rest].join("\n"))}</failure></testcase>`;
  });
  const found = verdict.kinds.filter(({ fails, count }) => fails && count === 0);
  for (const { title, evidence, advice } of found) {
    told.push(
      `    <testcase classname="lastcall.${xml(verdict.run.scenario)}" name="${xml(title)}"><failure message="${xml(evidence)}">${xml(advice)}</failure></testcase>`,
    );
  }
  if (verdict.outcome === "invalid") {
    told.push(
      `    <testcase classname="lastcall.${xml(verdict.run.scenario)}" name="the run is valid"><error message="${xml(verdict.invalid.join("; "))}"/></testcase>`,
    );
  }
  const failures = cases.filter((one) => one.bad.length > 0).length + found.length;
  const errors = verdict.outcome === "invalid" ? 1 : 0;
  const name = `lastcall ${verdict.run.scenario}: ${verdict.headline}`;
  return `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="${xml(name)}" tests="${told.length}" failures="${failures}" errors="${errors}" skipped="0" time="${(verdict.run.durationMs / 1000).toFixed(3)}">
    <properties><property name="p99" value="${xml(duration(verdict.latency.p99))}"/><property name="router" value="${xml(verdict.run.router)}"/></properties>
${told.join("\n")}
  </testsuite>
</testsuites>
`;
}
