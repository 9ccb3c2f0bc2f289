// The contract's routes, WebSockets, tunnels and gRPC by hand, stopped by a peer as its README says. PEER names it; TLS and
// HTTP2 (h2c, h2) are the server's, TIMEOUT the time that the peer is given.
import { contractApp } from "../../../packages/lab/dist/test/fixtures/contract-app.js";
import { contractServer } from "../../../packages/lab/dist/test/fixtures/contract-server.js";
import { serveUpgrades } from "../../../packages/lab/dist/test/fixtures/contract-upgrades.js";
import { peer } from "../peers.mjs";

const timeout = Number(process.env.TIMEOUT ?? 8000);
const server = contractServer(
  contractApp({
    task: (_name, work) => void work(new AbortController().signal),
    requestSignal: () => new AbortController().signal,
    stream: () => new AbortController().signal,
    handler: (run) => (request, response) => void run(request, response),
  }),
);
serveUpgrades(server);

const PEERS = {
  "http-terminator": () => {
    const { createHttpTerminator } = peer("http-terminator");
    const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: timeout });
    process.once("SIGTERM", () => void terminator.terminate().then(() => process.exit(0)));
  },
  "close-with-grace": () => {
    peer("close-with-grace")(
      { delay: timeout },
      () => new Promise((resolve) => server.close(() => resolve())),
    );
  },
};
PEERS[process.env.PEER]();

server.listen(0, "127.0.0.1", () =>
  console.log(JSON.stringify({ listening: true, port: server.address().port })),
);
