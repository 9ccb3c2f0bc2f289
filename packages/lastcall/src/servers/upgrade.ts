/** Connections that have left HTTP/1.1 by an upgrade or CONNECT: WebSockets are told to go, the rest is left to its deadline. */

import type { IncomingMessage, Server as HttpServer } from "node:http";
import type { Socket } from "node:net";
import type { Undo } from "../host.ts";
import { listenBeside } from "./beside.ts";
import type { Connections } from "./connections.ts";
import { interpose } from "./interpose.ts";
import { closeWhenSilent } from "./lingering-close.ts";
import { RAW_REFUSAL } from "./refusal.ts";
import type { Cut, DrainedPart, ServerHooks } from "./server.ts";
import { runSpread, SPREAD_SHARE } from "./spread.ts";
import { UpgradedSocket } from "./upgraded-socket.ts";

/** Takes over from `connections` each one that is upgraded. */
export function attachUpgrades(
  server: HttpServer,
  hooks: ServerHooks,
  connections: Connections,
): DrainedPart {
  const { host, admission } = hooks;
  const upgraded = new Set<UpgradedSocket>();
  const undo: Undo[] = [];
  const hurries: Undo[] = [];
  let announced = false;
  let told = 0;
  let cutWebSockets = 0;
  let cutOthers = 0;

  function onUpgrade(request: IncomingMessage, socket: Socket): void {
    if (request.httpVersionMajor > 1) {
      // CONNECT over HTTP/2 is a stream.
      return;
    }
    connections.handOver(socket);
    const one = new UpgradedSocket(host, request, socket);
    upgraded.add(one);
    socket.once("close", () => {
      upgraded.delete(one);
      told += one.told ? 1 : 0;
      if (upgraded.size === 0) {
        hooks.onQuiet();
      }
    });
    if (announced) {
      // It came while the others are being told: at some time in what is left for them.
      tellOver([one], hooks.announceWindowMs() * Math.random());
    }
  }

  function tellOver(some: readonly UpgradedSocket[], windowMs: number): void {
    const { hurry, cancel } = runSpread(host, some, windowMs, (one) => one.tell());
    hurries.push(hurry);
    undo.push(cancel);
  }

  /** True when the app shall not see it. */
  function decide(event: string | symbol, args: readonly unknown[]): boolean {
    if ((event !== "upgrade" && event !== "connect") || admission.gate === "open") {
      return false;
    }
    const [request, socket] = args as [IncomingMessage, Socket];
    if (request.httpVersionMajor > 1) {
      return false;
    }
    admission.refuse("503");
    // Node has taken its own listeners off: an error of a client that leaves would end the process.
    socket.on("error", () => socket.destroy());
    socket.resume();
    socket.write(RAW_REFUSAL);
    closeWhenSilent(host, socket);
    return true;
  }

  undo.push(listenBeside(server, "upgrade", onUpgrade), listenBeside(server, "connect", onUpgrade));

  return {
    begin: () => void undo.push(interpose(server, decide)),
    announce() {
      if (!announced) {
        announced = true;
        tellOver([...upgraded], hooks.announceWindowMs() * SPREAD_SHARE);
      }
    },
    shut() {
      hurries.splice(0).forEach((hurry) => hurry());
    },
    sweep() {
      upgraded.forEach((one) => one.tell());
    },
    cut() {
      const cuts: Cut[] = [];
      for (const one of upgraded) {
        const wasWebSocket = one.isWebSocket;
        if (one.cut()) {
          cutWebSockets += wasWebSocket ? 1 : 0;
          cutOthers += wasWebSocket ? 0 : 1;
          cuts.push({ route: one.route, startedAt: one.startedAt, how: "reset" });
        }
      }
      return cuts;
    },
    connections: () => upgraded.size,
    idle: () => 0,
    counts() {
      const webSockets = told + [...upgraded].filter((one) => one.told).length;
      return {
        ...(webSockets + cutWebSockets === 0 ? {} : { webSockets, webSocketsCut: cutWebSockets }),
        ...(cutOthers === 0 ? {} : { tunnelsCut: cutOthers }),
      };
    },
    detach() {
      undo.splice(0).forEach((remove) => remove());
    },
  };
}
