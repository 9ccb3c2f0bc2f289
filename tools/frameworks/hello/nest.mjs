// NestJS's first controller (docs.nestjs.com/first-steps), without a compiler for its decorators, and enableShutdownHooks().
import "reflect-metadata";
import { Controller, Get, Module } from "@nestjs/common";
import { NestFactory } from "@nestjs/core";
import { serve, slowly } from "./port.mjs";

class AppController {
  getHello() {
    return "Hello World!";
  }
  async getSlow() {
    await slowly();
    return "slow";
  }
}
const method = (name, path) =>
  Get(path)(AppController.prototype, name, Object.getOwnPropertyDescriptor(AppController.prototype, name));
method("getHello", "/");
method("getSlow", "/slow");
Controller()(AppController);

function AppModule() {}
Module({ controllers: [AppController] })(AppModule);

const app = await NestFactory.create(AppModule, { logger: false });
if (process.env.OWN_HANDLER === "1") app.enableShutdownHooks();
await app.listen(0, "127.0.0.1");
serve(app.getHttpServer());
