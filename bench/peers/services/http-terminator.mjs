import { createServer } from "node:http";
import { app, listen, peer, TIMEOUT } from "../app.mjs";

const server = createServer(app);
const { createHttpTerminator } = peer("http-terminator");
const terminator = createHttpTerminator({ server, gracefulTerminationTimeout: TIMEOUT });
process.on("SIGTERM", async () => {
  await terminator.terminate();
  process.exit(0);
});
listen(server);
