// (b) (c) (d) How long a stopping process takes once nothing is left to wait for.
import http from "node:http";
import { startCrowd, startServer } from "./processes.mjs";
import { median, nowNs, quantile, shuffle, table } from "./stats.mjs";

const ms = (ns) => ns / 1e6;
const rounded = (value) => value.toFixed(1);
const LINGER_MS = 250;
const pause = (howLong) => new Promise((resolve) => setTimeout(resolve, howLong));

function spread(values) {
  return {
    runs: values.length,
    "median ms": rounded(median(values)),
    "least ms": rounded(quantile(values, 0)),
    "p90 ms": rounded(quantile(values, 0.9)),
    "most ms": rounded(quantile(values, 1)),
  };
}

/** One request in flight at the signal; from its last byte at the client to the exit seen by the parent. */
async function exitAfterResponse(kind, keepAlive, options = {}) {
  const server = await startServer(kind, options);
  const agent = new http.Agent({ keepAlive });
  const answered = new Promise((resolve, reject) => {
    http
      .get({ host: "127.0.0.1", port: server.port, path: "/?ms=700", agent }, (res) => {
        res.resume();
        res.once("end", () => resolve(nowNs()));
      })
      .once("error", reject);
  });
  await pause(200);
  server.child.kill("SIGTERM");
  const at = await answered;
  const exit = await Promise.race([server.exited, pause(8000)]);
  agent.destroy();
  if (exit === undefined) {
    server.child.kill("SIGKILL");
    return { lateMs: 8000, computedMs: 0 };
  }
  return { lateMs: ms(exit.atNs - at), computedMs: server.computedMs() };
}

export async function exitAfterLastResponse({ runs = 50 } = {}) {
  const cases = ["floor", "floor again (control)", "close", "lastcall", "lastcall, kept-alive client"];
  const seen = Object.fromEntries(cases.map((name) => [name, []]));
  for (const name of shuffle(
    cases.flatMap((each) => Array.from({ length: runs }, () => each)),
    7,
  )) {
    seen[name].push(await exitAfterResponse(name.split(/[ ,]/)[0], name.includes("kept-alive")));
  }
  const keptOpen = [await exitAfterResponse("close", true), await exitAfterResponse("close", true)];
  const lateMs = (name) => seen[name].map((each) => each.lateMs);
  // By themselves: telling the parent at the exit takes time of the exit.
  const computedMs = [];
  for (let run = 0; run < 10; run += 1) {
    computedMs.push((await exitAfterResponse("lastcall", false, { measured: true })).computedMs);
  }
  return {
    title: "Exit after the last response",
    target: "median under 10 ms",
    method: `One request of 700 ms, SIGTERM 200 ms after it was sent, so that the linger window is over when it is answered; from the last byte at the client to the exit as the parent sees it; ${runs} runs each, shuffled. floor: the server calls process.exit when its response is out. With a client that keeps its connection, close took ${keptOpen.map((each) => rounded(each.lateMs)).join(" and ")} ms (bounded at 8000). From the end of its drain to its exit lastcall computes ${rounded(median(computedMs))} ms (median).`,
    pass: ["lastcall", "lastcall, kept-alive client"].every((name) => median(lateMs(name)) < 10),
    table: table(cases.map((name) => ({ server: name, ...spread(lateMs(name)) }))),
  };
}

/** From the last answer, or the end of the linger window where that is later, to the exit. */
async function crowdRun(kind, { idle, busy, workMs }) {
  const server = await startServer(kind, { measured: true });
  const crowd = await startCrowd(server, { idle, busy, path: `/?ms=${workMs}` });
  const signalNs = nowNs();
  server.child.kill("SIGTERM");
  const exit = await server.exited;
  const settled = await crowd.settled;
  crowd.child.kill("SIGKILL");
  const windowNs = signalNs + LINGER_MS * 1e6;
  return {
    lateMs: ms(exit.atNs - Math.max(settled?.lastAnswerNs ?? 0, windowNs)),
    code: exit.code,
    computedMs: server.computedMs(),
    answered: settled?.answered ?? 0,
  };
}

export async function crowdLeaves({ runs = 5 } = {}) {
  const cases = [
    {
      name: "10,000 idle, 1,000 in flight, answered long after the window",
      idle: 10_000,
      busy: 1000,
      workMs: 4000,
    },
    { name: "10,000 idle alone", idle: 10_000, busy: 0, workMs: 0 },
    { name: "1,000 in flight alone", idle: 0, busy: 1000, workMs: 2500 },
  ];
  const rows = [];
  let pass = true;
  const floor = [];
  for (let run = 0; run < runs; run += 1) floor.push((await crowdRun("floor", cases[0])).lateMs);
  for (const { name, ...load } of cases) {
    const done = [];
    for (let run = 0; run < runs; run += 1) done.push(await crowdRun("lastcall", load));
    pass &&= done.every(
      ({ lateMs, code, answered }) => lateMs <= 300 && code === 0 && answered === load.busy,
    );
    rows.push({
      case: name,
      ...spread(done.map(({ lateMs }) => lateMs)),
      "computed ms, median": rounded(median(done.map(({ computedMs }) => computedMs))),
      "exit codes": [...new Set(done.map(({ code }) => code))].join(", "),
      "answered, least": Math.min(...done.map(({ answered }) => answered)),
    });
  }
  return {
    title: "Ten thousand idle connections",
    target: "exit within 300 ms of the last answer or of the end of the linger window, whichever is later",
    method: `The clients are one other process; the window is counted from the sending of SIGTERM. A server that calls process.exit when the last of the first case's answers is out is gone after ${rounded(quantile(floor, 0))} to ${rounded(quantile(floor, 1))} ms (median ${rounded(median(floor))}): the kernel has ten thousand sockets to close. Computed: the server's own processor time from the end of its drain to the exit.`,
    pass,
    table: table(rows),
  };
}

/** From the deadline to the exit. */
async function stuckRun(kind, path, gracefulTimeoutMs) {
  const server = await startServer(kind, { gracefulTimeoutMs, measured: true });
  const crowd = await startCrowd(server, { busy: 1000, path });
  const signalNs = nowNs();
  server.child.kill("SIGTERM");
  const exit = await server.exited;
  const fates = await crowd.settled;
  crowd.child.kill("SIGKILL");
  return {
    lateMs: ms(exit.atNs - signalNs) - gracefulTimeoutMs,
    computedMs: server.computedMs(),
    code: exit.code,
    clients: `${fates.answered} answered, ${fates.refused} with 503, ${fates.cut} cut`,
  };
}

export async function stuckAreCut({ runs = 10 } = {}) {
  const gracefulTimeoutMs = 1500;
  const cases = [
    { name: "requests without a head", kind: "lastcall", path: "/stuck" },
    { name: "responses begun and never ended", kind: "lastcall", path: "/head" },
    { name: "requests without a head, cut without a word (control)", kind: "cut", path: "/stuck" },
  ];
  const seen = new Map(cases.map(({ name }) => [name, []]));
  const order = shuffle(
    cases.flatMap((each) => Array.from({ length: runs }, () => each)),
    11,
  );
  for (const { name, kind, path } of order)
    seen.get(name).push(await stuckRun(kind, path, gracefulTimeoutMs));
  const ours = cases.filter(({ kind }) => kind === "lastcall").map(({ name }) => seen.get(name));
  const every = (done, field) => [...new Set(done.map((each) => each[field]))].join("; ");
  return {
    title: "A thousand stuck sockets",
    target: "median exit within 100 ms of the deadline plus teardown (no hook here)",
    method: `gracefulTimeoutMs ${gracefulTimeoutMs}, counted from the sending of SIGTERM. The control destroys every connection and exits two turns of the loop later. Computed: the server's own processor time from the deadline to the exit.`,
    pass: ours.every(
      (done) => median(done.map(({ lateMs }) => lateMs)) <= 100 && done.every(({ code }) => code === 3),
    ),
    table: table(
      [...seen].map(([name, done]) => ({
        case: name,
        ...spread(done.map(({ lateMs }) => lateMs)),
        "computed ms, median": rounded(median(done.map(({ computedMs }) => computedMs))),
        "exit codes": every(done, "code"),
        clients: every(done, "clients"),
      })),
    ),
  };
}
