// What `npm run systemd` does to a unit while a client watches: one request that is held, or a load.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { describeLosses, startLoad } from "../load/generator.mjs";
import { UNITS } from "./units.mjs";

export async function until(what, check) {
  const giveUpAt = performance.now() + 20_000;
  while (performance.now() < giveUpAt) {
    if (check()) return;
    await delay(100);
  }
  throw new Error(`${what} did not come`);
}

export const describeHeld = ({ answer, result, status, tookMs }) =>
  `held ${answer}, Result=${result}, ${tookMs} ms${status ? `, "${status}"` : ""}`;

export const describeLoad = (seen) =>
  `${seen.sent} connections, ${seen.lost} lost${seen.lost > 0 ? ` (${describeLosses(seen)})` : ""}, ${seen.copies} processes, slowest ${seen.slowestMs} ms${seen.failed > 0 ? `, ${seen.failed} failed` : ""}`;

/** Clients of the services in a machine. */
export function watchedBy({ systemctl, systemctlAsync, show, journal, inNetwork }) {
  /** One request in the container's network; `0` when it was lost. */
  async function ask(number, hold = 0) {
    const code = `require("http").get({host:"127.0.0.1",port:${number},path:"/?hold=${hold}",agent:false},r=>{r.resume();r.on("end",()=>console.log(r.statusCode));r.on("error",()=>console.log(0))}).on("error",()=>console.log(0))`;
    const child = spawn(inNetwork[0], [...inNetwork.slice(1), process.execPath, "-e", code]);
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
    });
    await once(child, "close");
    return Number(text);
  }

  /** Stops a unit with a request in flight that takes `hold`; what became of both. */
  async function stopWithHeld(unit, number, hold) {
    const up = systemctl("start", unit);
    if (up.code !== 0) throw new Error(`${unit} did not start: ${journal(unit)}`);
    await until("listening", () => journal(unit).includes("listening"));
    const answer = ask(number, hold);
    await until("the request", () => journal(unit).includes("held"));
    const at = performance.now();
    const stopped = systemctlAsync("stop", unit);
    await delay(300);
    const status = show(unit, "StatusText");
    const sub = show(unit, "SubState");
    await stopped;
    const tookMs = Math.round(performance.now() - at);
    return { answer: await answer, result: show(unit, "Result"), status, sub, tookMs };
  }

  /** Does `act` again and again under load. */
  async function underLoad(unit, number, times, act) {
    const up = systemctl("start", unit);
    if (up.code !== 0) throw new Error(`${unit} did not start: ${journal(unit)}`);
    const end = await startLoad({ port: number, rate: 200, before: inNetwork });
    let failed = 0;
    for (let n = 0; n < times; n += 1) {
      if ((await systemctlAsync(...act)) !== 0) failed += 1;
      // Until whoever waited in the queue is served: restarts without a pause would leave no time to serve anybody.
      if ((await ask(number)) !== 200) failed += 1;
    }
    const seen = { ...(await end()), failed };
    systemctl("stop", ...Object.keys(UNITS).filter((name) => name.split(".")[0] === unit.split(".")[0]));
    return seen;
  }

  return { ask, stopWithHeld, underLoad };
}
