/** Clients that use a service until it is gone, and count what they saw. */

import { Agent, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import type { Chance } from "./chance.ts";

export interface Seen {
  /** Whole answers with 200 and 202. */
  complete: number;
  accepted202: number;
  /** Whole answers with 503. */
  refused: number;
  /** Answers that had begun and were cut. */
  truncated: number;
  /** The connection broke before a byte of the answer: the service may have seen the request or not. */
  doubtful: number;
  /** Requests that we gave up in the middle. */
  left: number;
  /** Connections with half a head, or none. */
  silent: number;
  /** Whole answers that were not what was sent. */
  wrong: number;
}

export function nothing(): Seen {
  return {
    complete: 0,
    accepted202: 0,
    refused: 0,
    truncated: 0,
    doubtful: 0,
    left: 0,
    silent: 0,
    wrong: 0,
  };
}

/** One request; false when nobody listens any more. */
function once(port: number, agent: Agent, chance: Chance, seen: Seen): Promise<boolean> {
  const ms = chance.oneIn(40) ? 5000 : chance.below(150);
  const path = chance.oneIn(4) ? `/stream?ms=${ms}` : `/?ms=${ms}`;
  const isPost = chance.oneIn(4);
  const leaves = chance.oneIn(12);
  return new Promise((resolve) => {
    let over = false;
    let begun = false;
    const end = (count: keyof Seen | null, goesOn: boolean): void => {
      if (!over) {
        over = true;
        if (count !== null) {
          seen[count] += 1;
        }
        resolve(goesOn);
      }
    };
    const sent = request({ port, host: "127.0.0.1", agent, path, method: isPost ? "POST" : "GET" });
    sent.on("error", (error: NodeJS.ErrnoException) => {
      const refused = error.code === "ECONNREFUSED";
      end(refused ? null : begun ? "truncated" : "doubtful", !refused);
    });
    sent.on("response", (response) => {
      begun = true;
      let body = "";
      response.on("data", (chunk: Buffer) => {
        body += String(chunk);
      });
      response.on("close", () => {
        if (!response.complete) {
          end("truncated", true);
        } else if (response.statusCode === 503) {
          end(body.includes("draining") ? "refused" : "wrong", true);
        } else {
          seen.accepted202 += response.statusCode === 202 ? 1 : 0;
          end(body.endsWith("whole") ? "complete" : "wrong", true);
        }
      });
    });
    sent.end(isPost ? "x".repeat(chance.below(20_000)) : undefined);
    if (leaves) {
      setTimeout(() => {
        end("left", true);
        sent.destroy();
      }, chance.below(30));
    }
  });
}

/** Asks until nobody listens any more, or the process has ended. */
export async function use(port: number, chance: Chance, seen: Seen, isOver: () => boolean): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  for (let goesOn = true; goesOn && !isOver();) {
    goesOn = await once(port, agent, chance, seen);
    await pause(chance.below(15));
  }
  agent.destroy();
}

/** Opens a connection and says nothing, or half of something. */
export function dawdle(port: number, chance: Chance, seen: Seen): void {
  seen.silent += 1;
  const socket = connect({ port, host: "127.0.0.1" });
  socket.on("error", () => {
    // A service that leaves may end it as it likes.
  });
  socket.resume();
  if (chance.oneIn(2)) {
    socket.write("GET / HTTP/1.1\r\nHo");
  }
}
