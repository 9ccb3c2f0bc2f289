// An image without a registry: this machine's Node with the libraries that it needs, dash as /bin/sh and bash, as in Debian's
// own images, the service, and the library as npm would install it.
import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, existsSync, mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";

const here = path.dirname(fileURLToPath(import.meta.url));
const library = path.join(here, "../../packages/lastcall");

/** Builds the folder and imports it as `tag`. */
export function makeImage(engine, node, tag) {
  const root = path.join(engine.scratch, `root-${tag}`);
  for (const folder of ["usr/bin", "bin", "etc", "tmp", "proc", "sys", "dev", "app/node_modules/lastcall"]) {
    mkdirSync(path.join(root, folder), { recursive: true });
  }
  addProgram(root, node, "usr/bin/node");
  addProgram(root, "/bin/dash", "bin/dash");
  addProgram(root, "/bin/bash", "bin/bash");
  addProgram(root, "/bin/sleep", "bin/sleep");
  symlinkSync("dash", path.join(root, "bin/sh"));
  writeFileSync(path.join(root, "etc/passwd"), "root:x:0:0:root:/:/bin/sh\n");
  cpSync(path.join(here, "../service.cjs"), path.join(root, "app/app.cjs"));
  cpSync(path.join(library, "package.json"), path.join(root, "app/node_modules/lastcall/package.json"));
  cpSync(path.join(library, "dist/src"), path.join(root, "app/node_modules/lastcall/dist/src"), {
    recursive: true,
  });
  for (const [name, last] of Object.entries({ "entrypoint.sh": '"$@"', "entrypoint-exec.sh": 'exec "$@"' })) {
    writeFileSync(path.join(root, "app", name), `#!/bin/sh\nexport STARTED=1\n${last}\n`);
    chmodSync(path.join(root, "app", name), 0o755);
  }
  const archive = path.join(engine.scratch, `${tag}.tar`);
  const packed = spawnSync("tar", ["-C", root, "-cf", archive, "."], { encoding: "utf8" });
  if (packed.status !== 0) throw new Error(`tar: ${packed.stderr}`);
  const changes = ["ENV PATH=/usr/bin:/bin PORT=8080 HOST=0.0.0.0", "WORKDIR /app", "EXPOSE 8080"].flatMap(
    (line) => ["-c", line],
  );
  engine.docker(["import", ...changes, archive, tag]);
}

/** The program and each library that it is linked with, at their own places. */
function addProgram(root, program, to) {
  cpSync(realpathSync(program), path.join(root, to));
  const { stdout } = spawnSync("ldd", [realpathSync(program)], { encoding: "utf8" });
  for (const [file] of stdout.matchAll(/\/\S+/g)) {
    const target = path.join(root, file);
    if (!existsSync(target)) {
      mkdirSync(path.dirname(target), { recursive: true });
      cpSync(realpathSync(file), target);
    }
  }
}
