// Two worker threads that serve on ports of their own, / at once and /slow after a second and a half. The main thread only
// starts them. Knows nothing of the library.
import { createServer } from "node:http";
import { isMainThread, Worker } from "node:worker_threads";
import { fileURLToPath } from "node:url";

if (isMainThread) {
  for (let n = 0; n < 2; n += 1) {
    new Worker(fileURLToPath(import.meta.url)).on("message", (port) => console.log(`listening ${port}`));
  }
} else {
  const { parentPort } = await import("node:worker_threads");
  const server = createServer((req, res) => {
    setTimeout(() => res.end("Hello World"), req.url === "/slow" ? 1500 : 0);
  });
  server.listen(0, "127.0.0.1", () => parentPort.postMessage(server.address().port));
}
