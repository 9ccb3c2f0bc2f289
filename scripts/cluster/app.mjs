// A cluster of two workers that knows nothing of the library. SIGUSR2 has it replace both, one after the other, the new one
// first. Its first argument says how connections reach the workers, the second with which signal a worker is replaced.
import cluster from "node:cluster";
import { once } from "node:events";
import { createServer } from "node:http";

const WORKERS = 2;
const WORK_MS = 5;
const [sharing, signal] = process.argv.slice(2);
const port = Number(process.env.PORT);

/** It says so itself: a worker that binds its port by itself is not announced to the primary. */
const started = () => once(cluster.fork(), "message");

async function replaceAll() {
  for (const old of Object.values(cluster.workers)) {
    await started();
    const gone = once(old.process, "exit");
    old.process.kill(signal);
    await gone;
  }
  console.log("replaced");
}

if (cluster.isPrimary) {
  cluster.schedulingPolicy = sharing === "round robin" ? cluster.SCHED_RR : cluster.SCHED_NONE;
  await Promise.all(Array.from({ length: WORKERS }, started));
  console.log("ready");
  process.on("SIGUSR2", () => void replaceAll());
} else {
  const server = createServer((_req, res) => setTimeout(() => res.end("Hello World"), WORK_MS));
  server.listen({ port, host: "127.0.0.1", reusePort: sharing === "reusePort" });
  server.once("listening", () => process.send("listening"));
}
