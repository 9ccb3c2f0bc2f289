// The service of the shows, which knows nothing of the library. GET / answers at once, /slow after 1.5 s, /long after 4 s,
// /stuck never; /spin blocks the event loop in JavaScript, /native outside of it, /heap eats memory. ORPHANS=n leaves n ended
// processes without a parent; DEAF=1 hears SIGTERM and does nothing.
const { execSync, spawnSync } = require("node:child_process");
const { createServer } = require("node:http");

const DELAYS = { "/slow": 1500, "/long": 4000 };

for (let n = 0; n < Number(process.env.ORPHANS ?? 0); n += 1) {
  spawnSync("/bin/sh", ["-c", "sleep 0.1 & exit 0"]);
}
if (process.env.DEAF === "1") process.on("SIGTERM", () => {});

function spinsForever() {
  for (;;) Math.sqrt(Math.random());
}

function eatsMemory() {
  const kept = [];
  for (let n = 0; ; n += 1) kept.push(Array.from({ length: 500 }, () => n));
}

createServer((req, res) => {
  if (req.url === "/spin") spinsForever();
  if (req.url === "/native") execSync("sleep 20");
  if (req.url === "/heap") eatsMemory();
  if (req.url !== "/stuck") setTimeout(() => res.end("Hello World"), DELAYS[req.url] ?? 0);
}).listen(Number(process.env.PORT), process.env.HOST ?? "127.0.0.1");
