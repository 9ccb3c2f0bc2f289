// @grpc/grpc-js, which makes its HTTP/2 server itself: found by the event of its listening, as the auto mode does.
import { subscribe } from "node:diagnostics_channel";
import grpc from "@grpc/grpc-js";
import { HealthImplementation } from "grpc-health-check";
import {
  TEST_ONLY_CERTIFICATE,
  TEST_ONLY_KEY,
} from "../../../packages/lab/dist/test/fixtures/test-only-certificate.js";
import { life, ownStop } from "./service.mjs";
import { definition } from "./grpc-definition.mjs";

subscribe("tracing:net.server.listen:asyncStart", ({ server }) => life.http(server));

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
const server = new grpc.Server();
server.addService(definition, {
  async unary(call, done) {
    await pause(Number(call.request));
    done(null, "done");
  },
  collect(call, done) {
    let count = 0;
    call.on("data", () => (count += 1));
    call.on("end", () => done(null, String(count)));
  },
  async list(call) {
    for (let n = 0; n < Number(call.request); n += 1) {
      call.write(String(n));
      await pause(20);
    }
    call.end();
  },
  chat(call) {
    call.on("data", (text) => call.write(text));
    call.on("end", () => call.end());
  },
});
// docs/protocols.md, in so many words.
const health = new HealthImplementation({ "": "SERVING" });
health.addToServer(server);
life.signal?.addEventListener("abort", () => health.setStatus("", "NOT_SERVING"));

ownStop(() => new Promise((resolve) => server.tryShutdown(resolve)));
const pair = { private_key: Buffer.from(TEST_ONLY_KEY), cert_chain: Buffer.from(TEST_ONLY_CERTIFICATE) };
const credentials =
  process.env.TLS === "1"
    ? grpc.ServerCredentials.createSsl(null, [pair])
    : grpc.ServerCredentials.createInsecure();
server.bindAsync("127.0.0.1:0", credentials, (error, port) => {
  if (error) throw error;
  life.ready();
  console.log(JSON.stringify({ port }));
});
