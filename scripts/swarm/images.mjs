// The images of the orders service and of HAProxy, out of this machine's own programs and their libraries: no registry is asked.
import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const root = path.dirname(path.dirname(path.dirname(fileURLToPath(import.meta.url))));
const FOLDERS = ["etc", "tmp", "proc", "sys", "dev"];

const HAPROXY_CONFIG = `global
  maxconn 2000
defaults
  mode http
  timeout connect 1s
  timeout client 10s
  timeout server 10s
  retries 0
resolvers docker
  nameserver dns 127.0.0.11:53
  # Swarm takes a task out of its DNS 2 s before it sends SIGTERM: a router that looks every second loses nothing to it.
  # Docker's answers may be kept for 600 s, and most routers keep them for some.
  hold valid 10s
  timeout resolve 10s
frontend front
  bind :8000
  default_backend tasks
backend tasks
  option httpchk GET /ready
  option http-server-close
  timeout check 2s
  default-server check inter 500ms fall 3 rise 1 resolvers docker init-addr none
  server-template task 8 web:9001
`;
/** Asked twice a second by each task: a whole Node for it would be a load of its own. */
const ASK_READY = `#!/usr/bin/bash
exec 3<>/dev/tcp/127.0.0.1/9001; printf "GET /ready HTTP/1.0\\r\\n\\r\\n" >&3; read -r _ status _ <&3; [ "$status" = 200 ]
`;

function copyProgram(into, program) {
  const from = execFileSync("sh", ["-c", 'command -v "$1"', "sh", program], { encoding: "utf8" }).trim();
  mkdirSync(path.join(into, "usr/bin"), { recursive: true });
  cpSync(from, path.join(into, "usr/bin", path.basename(program)), { dereference: true });
  const libraries = spawnSync("ldd", [from], { encoding: "utf8" }).stdout.match(/\/[^ )]+/g) ?? [];
  for (const library of libraries) {
    mkdirSync(path.dirname(path.join(into, library)), { recursive: true });
    cpSync(library, path.join(into, library), { dereference: true });
  }
}

function makeFolders(into, names) {
  for (const name of names) mkdirSync(path.join(into, name), { recursive: true });
}

/** Their root folders, in `home`. */
export function makeImages(home) {
  const orders = path.join(home, "orders");
  copyProgram(orders, process.execPath);
  copyProgram(orders, "bash");
  makeFolders(orders, ["bin", ...FOLDERS]);
  symlinkSync("/usr/bin/bash", path.join(orders, "bin/sh"));
  writeFileSync(path.join(orders, "usr/bin/ask-ready"), ASK_READY, { mode: 0o755 });
  for (const folder of ["packages/lastcall", "examples/orders"]) {
    cpSync(path.join(root, folder, "dist/src"), path.join(orders, "srv", folder, "dist/src"), {
      recursive: true,
    });
    cpSync(path.join(root, folder, "package.json"), path.join(orders, "srv", folder, "package.json"));
  }
  mkdirSync(path.join(orders, "srv/node_modules"));
  symlinkSync("../packages/lastcall", path.join(orders, "srv/node_modules/lastcall"));

  const router = path.join(home, "haproxy");
  copyProgram(router, "haproxy");
  makeFolders(router, FOLDERS);
  writeFileSync(path.join(router, "etc/haproxy.cfg"), HAPROXY_CONFIG);
}

/** Makes images of them in the engine at `socket`. */
export function importImages(home, socket) {
  const into = (folder, changes, tag) =>
    execFileSync("sh", [
      "-c",
      `tar -C "$1" -c . | docker -H "${socket}" import ${changes} - ${tag} > /dev/null`,
      "sh",
      path.join(home, folder),
    ]);
  const orders = `-c 'ENV PATH=/usr/bin:/bin' -c 'ENTRYPOINT ["node","/srv/examples/orders/dist/src/server.js"]'`;
  into("orders", orders, "orders:1");
  into("haproxy", `-c 'CMD ["/usr/bin/haproxy","-db","-f","/etc/haproxy.cfg"]'`, "haproxy:1");
}
