// Koa's hello world (koajs.com).
import Koa from "koa";
import { ownHandler, serve, slowly } from "./port.mjs";

const app = new Koa();
app.use(async (ctx) => {
  if (ctx.path === "/slow") await slowly();
  ctx.body = "Hello World";
});
const server = app.listen(0, "127.0.0.1", () => serve(server));
ownHandler(() => {
  server.close(() => process.exit(0));
});
