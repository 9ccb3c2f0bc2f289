// Raw WebSocket clients in a process of their own. Each answers its close frame and comes back at once, to the other port.
import net from "node:net";
import { nowNs } from "./stats.mjs";

const [port, count, other = 0] = process.argv.slice(2).map(Number);
const codes = {};
const toldNs = [];
const backNs = [];
let left = count;

const REQUEST =
  "GET /ws HTTP/1.1\r\nHost: bench\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n";
/** 1001, masked with zeros. */
const GOODBYE = Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe9]);

function connect(to, onEnd) {
  return new Promise((resolve, reject) => {
    const socket = net.connect({ port: to, host: "127.0.0.1" });
    let upgraded = false;
    let code = 1006;
    socket.once("connect", () => socket.write(REQUEST));
    socket.on("error", (error) => (upgraded ? undefined : reject(error)));
    socket.on("data", (bytes) => {
      if (!upgraded) {
        upgraded = true;
        resolve();
      } else if (bytes[0] === 0x88) {
        code = bytes.readUInt16BE(2);
        toldNs.push(nowNs());
        socket.write(GOODBYE);
      }
    });
    socket.once("close", () => onEnd?.(code));
  });
}

function settle() {
  left -= 1;
  if (left > 0) return;
  // More than a pipe takes at once; who leaves before it is through takes it along.
  process.send({ settled: { codes, toldNs, backNs } }, () => process.exit(0));
}

const comeBack = async (code) => {
  codes[code] = (codes[code] ?? 0) + 1;
  if (other > 0) {
    await connect(other);
    backNs.push(nowNs());
  }
  settle();
};

for (let n = 0; n < count; n += 200) {
  await Promise.all(Array.from({ length: Math.min(200, count - n) }, () => connect(port, comeBack)));
}
process.send({ ready: true });
