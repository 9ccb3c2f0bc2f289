// The protocol clauses of the contract (F1 to F6) as `lastcall prove` judges them: the library's service, the naive one on
// plain Node, and the best peer for the protocol, each on the Node version that is asked for.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { fileURLToPath } from "node:url";

const file = (name) => fileURLToPath(new URL(name, import.meta.url));
const LASTCALL = file("../../packages/lab/bin/lastcall.js");
const FIXTURES = "../../packages/lab/dist/test/fixtures/";

const ROUTES = {
  ordinary: "GET /ordinary?id={id}",
  slow: "GET /slow?seconds={seconds}&id={id}",
  stream: "GET /stream?seconds={seconds}",
  upload: "POST /upload",
  events: "GET /events",
  websocket: "GET /ws",
  tunnel: "GET /tunnel",
  grpcUnary: "POST /test.Texts/Unary",
  grpcStream: "POST /test.Texts/List",
};

/** How a clause's service is started, and who is the best peer for it. */
const way = (protocol, only, settings, peer) => ({ protocol, only, peer, ...settings });

function overHttp1(over, settings) {
  return [
    way(`WebSocket, ${over}`, "F1", settings, "http-terminator"),
    way(`event streams, ${over}`, "F3", settings, "http-terminator"),
    way(`upgrade and CONNECT, ${over}`, "F4", settings, "http-terminator"),
    way(`100-continue, ${over}`, "F5", settings, "http-terminator"),
  ];
}

const WAYS = [
  way("HTTP/2, plain", "F2", { modes: { h2c: { HTTP2: "h2c" } } }, "close-with-grace"),
  way("HTTP/2, TLS", "F2", { modes: { h2: { HTTP2: "h2" } } }, "close-with-grace"),
  way("gRPC, plain", "F6", { modes: { h2c: { HTTP2: "h2c" } } }, "close-with-grace"),
  way("gRPC, TLS", "F6", { modes: { h2: { HTTP2: "h2" } } }, "close-with-grace"),
  ...overHttp1("plain", {}),
  ...overHttp1("TLS", { tls: true, env: { TLS: "1" } }),
];

const PARTIES = {
  lastcall: (node) => ({
    library: "lastcall",
    command: [node, file(`${FIXTURES}contract-service.js`)],
    env: {},
  }),
  plain: (node) => ({ command: [node, file(`${FIXTURES}naive-service.js`)], env: { BREACH: "close" } }),
  peer: (node, { peer }) => ({
    command: [node, file("./cases/clauses.mjs")],
    env: { PEER: peer },
    settings: { gracefulTimeout: { env: "TIMEOUT", as: "250" } },
    exitCodes: { clean: 0, incomplete: 1 },
  }),
};

/** One row of the table: what the client of this protocol must see. */
export const CLAUSE_ROWS = WAYS.map(({ protocol, only, peer, ...settings }) => ({
  protocol,
  case: only,
  peer,
  async judge(node, party) {
    const subject = PARTIES[party](node, { peer });
    const folder = mkdtempSync(path.join(tmpdir(), "lastcall-protocols-"));
    const config = path.join(folder, "lastcall.config.json");
    const env = { ...subject.env, ...settings.env };
    const prove = { name: party, announces: true, routes: ROUTES, ...subject, ...settings, env };
    writeFileSync(config, JSON.stringify({ prove }));
    try {
      const [clause] = (await run(["prove", "--config", config, "--only", only, "--json"])).clauses;
      if (clause.kind === "not judged") return { kept: null, seen: clause.why };
      return { kept: clause.kind === "kept", seen: clause.reason ?? JSON.stringify(clause.measured) };
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
}));

function run(args) {
  const child = spawn(process.execPath, [LASTCALL, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  let out = "";
  let err = "";
  child.stdout.on("data", (part) => (out += part));
  child.stderr.on("data", (part) => (err += part));
  return new Promise((resolve, reject) => {
    child.on("close", (code) =>
      code === 0 || code === 1 ? resolve(JSON.parse(out)) : reject(new Error(`exit code ${code}\n${err}`)),
    );
  });
}
