// Raw HTTP/2 sessions with many streams in flight, in a process of its own: PINGs are answered, END_STREAM is counted.
// Says when the last answer's last byte has come.
import net from "node:net";
import { nowNs } from "./stats.mjs";

const [port, sessions, streams] = process.argv.slice(2).map(Number);
const result = { answered: 0, goaways: 0, cut: 0, lastAnswerNs: 0 };
let open = 0;

const HEAD = Buffer.from("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0", "latin1");

/** GET http / with the authority x, out of the static table, END_STREAM and END_HEADERS. */
function request(id) {
  const frame = Buffer.from([0, 0, 6, 1, 5, 0, 0, 0, 0, 0x82, 0x86, 0x84, 0x01, 0x01, 0x78]);
  frame.writeUInt32BE(id, 5);
  return frame;
}

function connect() {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port, host: "127.0.0.1", noDelay: true });
    let rest = Buffer.alloc(0);
    let left = streams;
    open += 1;
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      socket.on("error", () => {});
      socket.write(Buffer.concat([HEAD, ...Array.from({ length: streams }, (_, n) => request(2 * n + 1))]));
      resolve();
    });
    socket.on("data", (chunk) => {
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      let at = 0;
      while (rest.length - at >= 9) {
        const end = at + 9 + rest.readUIntBE(at, 3);
        if (rest.length < end) break;
        const type = rest[at + 3];
        const flags = rest[at + 4];
        if ((type === 0 || type === 1) && (flags & 1) === 1) {
          left -= 1;
          result.answered += 1;
          result.lastAnswerNs = nowNs();
        } else if (type === 7) {
          result.goaways += 1;
        } else if ((type === 4 || type === 6) && (flags & 1) === 0) {
          const answer = Buffer.from(rest.subarray(at, end));
          if (type === 4) answer.writeUIntBE(0, 0, 3);
          answer[4] = 1;
          socket.write(type === 4 ? answer.subarray(0, 9) : answer);
        }
        at = end;
      }
      rest = rest.subarray(at);
    });
    socket.once("close", () => {
      open -= 1;
      result.cut += left;
      if (open === 0) {
        process.send({ settled: result });
        process.disconnect();
      }
    });
  });
}

for (let n = 0; n < sessions; n += 1) await connect();
process.send({ ready: true });
