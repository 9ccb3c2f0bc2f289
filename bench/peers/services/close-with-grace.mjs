import { createServer } from "node:http";
import { app, listen, peer, TIMEOUT } from "../app.mjs";

const server = createServer(app);
peer("close-with-grace")({ delay: TIMEOUT }, () => new Promise((resolve) => server.close(resolve)));
listen(server);
