import { createServer } from "node:http";
import { app, listen, peer, TIMEOUT } from "../app.mjs";

const server = createServer(app);
const terminator = peer("lil-http-terminator")({ server, gracefulTerminationTimeout: TIMEOUT });
process.on("SIGTERM", async () => {
  const { success } = await terminator.terminate();
  process.exit(success ? 0 : 1);
});
listen(server);
