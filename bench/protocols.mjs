// HTTP/2 and WebSockets: what they cost while nothing stops, how long a drained crowd of streams takes to leave, and how
// the reconnects of many WebSockets are spread.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { startClients, startServer } from "./processes.mjs";
import { median, nowNs, quantile, shuffle, table } from "./stats.mjs";

const ROUNDS = 5;
const ms = (ns) => ns / 1e6;
const rounded = (value) => value.toFixed(1);

function overheadRows(what) {
  const variants = ["bare again (control)", "lastcall"];
  const more = Object.fromEntries(variants.map((name) => [name, { p10: [], mean: [] }]));
  const bare = [];
  for (let round = 1; round <= ROUNDS; round += 1) {
    const file = fileURLToPath(new URL("./protocol-overhead.mjs", import.meta.url));
    const done = spawnSync(process.execPath, [file, what, String(round)], { encoding: "utf8" });
    if (done.status !== 0) throw new Error(done.stderr);
    const summary = JSON.parse(done.stdout);
    bare.push(summary.bare.p10);
    for (const name of variants) {
      more[name].p10.push(summary[name].p10 - summary.bare.p10);
      more[name].mean.push(summary[name].mean - summary.bare.mean);
    }
  }
  return variants.map((name) => ({
    what,
    variant: name,
    "bare, p10 ns": Math.round(median(bare)),
    "+ns at p10, median of rounds": Math.round(median(more[name].p10)),
    "least to most": `${Math.round(quantile(more[name].p10, 0))} to ${Math.round(quantile(more[name].p10, 1))}`,
    ratio: (1 + median(more[name].p10) / median(bare)).toFixed(3),
    "+ns of the means, median": Math.round(median(more[name].mean)),
  }));
}

export async function overheadPerStream() {
  const rows = [...overheadRows("streams"), ...overheadRows("messages")];
  const ours = (what) => rows.find((row) => row.what === what && row.variant === "lastcall");
  return {
    title: "Overhead an HTTP/2 stream and a WebSocket message, in process",
    target:
      "a stream at most 5 % over the same server without the library, a message at most 150 ns over what its write takes",
    method: `${ROUNDS} processes each; in each, 200 batches of 200 a variant, shuffled, one synthetic connection a variant; processor time of the whole process, the raw client's included.`,
    pass: Number(ours("streams").ratio) <= 1.05 && ours("messages")["+ns at p10, median of rounds"] <= 150,
    table: table(rows),
  };
}

export async function memoryPerWebSocket() {
  const rows = [];
  const count = 5000;
  for (const kind of ["plain", "lastcall", "plain", "lastcall"]) {
    const server = await startServer(kind, {}, ["--expose-gc"], "./web-socket-server.mjs");
    const before = await server.memory();
    const crowd = await startClients("./web-socket-client.mjs", [server.port, count]);
    const after = await server.memory();
    crowd.child.kill("SIGKILL");
    server.child.kill("SIGKILL");
    await server.exited;
    const each = (name) => Math.round((after[name] - before[name]) / count);
    rows.push({
      server: kind,
      "heap bytes a WebSocket": each("heapUsed"),
      "resident bytes a WebSocket": each("rss"),
    });
  }
  const heap = (kind) =>
    Math.min(...rows.filter((row) => row.server === kind).map((row) => row["heap bytes a WebSocket"]));
  const more = heap("lastcall") - heap("plain");
  return {
    title: "Memory of a WebSocket",
    target: "at most 2,048 bytes over a bare server",
    method: `${count} WebSockets; heap after two full collections; every server twice. lastcall over bare: ${more} bytes.`,
    pass: more <= 2048,
    table: table(rows),
  };
}

async function streamsRun(kind, options, sessions, streams) {
  const server = await startServer(kind, options, [], "./http2-server.mjs");
  const clients = await startClients("./http2-client.mjs", [server.port, sessions, streams]);
  await server.hasSeen(sessions * streams);
  server.child.kill("SIGTERM");
  const [exit, settled] = await Promise.all([server.exited, clients.settled]);
  return {
    lateMs: ms(exit.atNs - settled.lastAnswerNs),
    code: exit.code,
    computedMs: server.computedMs(),
    ...settled,
  };
}

/** `runs` of each, in a shuffled order. */
export async function streamsLeave({ runs = 5, sessions = 100, streams = 100 } = {}) {
  const cases = ["floor", "lastcall"].flatMap((kind) =>
    [0, 1000].map((overMs) => ({
      name: `${kind}, answered ${overMs === 0 ? "all at once" : `over ${overMs} ms`}`,
      kind,
      options: { overMs },
    })),
  );
  const seen = new Map(cases.map(({ name }) => [name, []]));
  for (const { name, kind, options } of shuffle(
    cases.flatMap((each) => Array.from({ length: runs }, () => each)),
    5,
  )) {
    seen.get(name).push(await streamsRun(kind, options, sessions, streams));
  }
  const ours = cases.filter(({ kind }) => kind === "lastcall").flatMap(({ name }) => seen.get(name));
  return {
    title: "Ten thousand HTTP/2 streams",
    target: "exit within 300 ms of the last answer, each stream answered",
    method: `${sessions} sessions of one other process with ${streams} streams each in flight over plain TCP; SIGTERM, and 1.5 s later they are answered; from the last byte of the last answer at the client to the exit as the parent sees it. floor: when its last stream has closed the server destroys every session and calls process.exit. Computed: the server's processor time from the end of its drain to the exit.`,
    pass: ours.every(
      ({ lateMs, code, answered }) => lateMs <= 300 && code === 0 && answered === sessions * streams,
    ),
    table: table(
      [...seen].map(([name, done]) => ({
        case: name,
        runs: done.length,
        "median ms": rounded(median(done.map(({ lateMs }) => lateMs))),
        "least ms": rounded(
          quantile(
            done.map(({ lateMs }) => lateMs),
            0,
          ),
        ),
        "most ms": rounded(
          quantile(
            done.map(({ lateMs }) => lateMs),
            1,
          ),
        ),
        "computed ms, median": rounded(median(done.map(({ computedMs }) => computedMs))),
        "answered, least": Math.min(...done.map(({ answered }) => answered)),
        "GOAWAYs a session": [...new Set(done.map(({ goaways }) => (goaways / sessions).toFixed(1)))].join(
          ", ",
        ),
        "exit codes": [...new Set(done.map(({ code }) => code))].join(", "),
      })),
    ),
  };
}

/** How many instants lie in the fullest 100 ms. */
function peak(timesNs) {
  const sorted = timesNs.toSorted((a, b) => a - b);
  let most = 0;
  for (let from = 0, to = 0; to < sorted.length; to += 1) {
    while (sorted[to] - sorted[from] > 100e6) from += 1;
    most = Math.max(most, to - from + 1);
  }
  return most;
}

export async function webSocketsComeBack({ count = 10_000, drainDelayMs = 15_000 } = {}) {
  const leaving = await startServer("lastcall", { drainDelayMs, log: "none" }, [], "./web-socket-server.mjs");
  const other = await startServer("plain", {}, [], "./web-socket-server.mjs");
  const clients = await startClients("./web-socket-client.mjs", [leaving.port, count, other.port]);
  const signalNs = nowNs();
  leaving.child.kill("SIGTERM");
  const [exit, settled] = await Promise.all([leaving.exited, clients.settled]);
  other.child.kill("SIGKILL");
  await other.exited;
  const { codes, toldNs, backNs } = settled;
  const even = count / ((drainDelayMs * 2) / 3 / 100);
  const told = peak(toldNs);
  const back = peak(backNs);
  return {
    title: "Ten thousand WebSockets come back",
    target:
      "each told with 1001 and back at the other copy; the fullest 100 ms holds at most three times the even share",
    method: `Drain delay ${drainDelayMs} ms, of which two thirds are for telling: ${even.toFixed(0)} in 100 ms would be even. The clients are one process and come back at once, to another copy. From the signal to the last one back ${Math.round(ms(Math.max(...backNs) - signalNs))} ms; exit ${Math.round(ms(exit.atNs - signalNs))} ms after the signal with code ${exit.code}.`,
    pass: codes[1001] === count && backNs.length === count && exit.code === 0 && back <= 3 * even,
    table: table([
      {
        WebSockets: count,
        "told with 1001": codes[1001] ?? 0,
        "back at the other copy": backNs.length,
        "even share of 100 ms": even.toFixed(0),
        "told in the fullest 100 ms": told,
        "back in the fullest 100 ms": back,
        "first told, ms": Math.round(ms(Math.min(...toldNs) - signalNs)),
        "last told, ms": Math.round(ms(Math.max(...toldNs) - signalNs)),
      },
    ]),
  };
}
