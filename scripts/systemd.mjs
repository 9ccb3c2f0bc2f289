// `npm run systemd`: a real systemd, in a container by systemd-nspawn, starts, stops, reloads and activates a service under
// `lastcall/auto` and under `lastcall-takeover`. A row is kept when what systemd says and what clients saw is what the contract
// says (G6). Needs root, systemd-container and debootstrap; the container's root is made once, in ~/.cache/lastcall. Words after
// the command choose rows by their names.
import path from "node:path";
import { fileURLToPath } from "node:url";
import { boot, whyNot } from "./systemd/container.mjs";
import { rowsOn } from "./systemd/rows.mjs";
import { APP, UNITS } from "./systemd/units.mjs";

const root = path.dirname(path.dirname(fileURLToPath(import.meta.url)));
const why = whyNot();
if (why !== null) {
  console.error(`no systemd can be started here: ${why}`);
  process.exit(3);
}

const started = performance.now();
const machine = await boot({
  files: {
    "opt/app.mjs": APP,
    ...Object.fromEntries(Object.entries(UNITS).map(([name, text]) => [`etc/systemd/system/${name}`, text])),
  },
  binds: { [path.join(root, "packages/lastcall")]: "/opt/lastcall" },
});
console.log(
  `systemd ${machine.systemctl("--version").text.split(" ")[1]}, Node ${process.version}, up after ${((performance.now() - started) / 1000).toFixed(1)} s\n`,
);

let broken = 0;
try {
  const words = process.argv.slice(2);
  for (const [name, work] of rowsOn(machine).filter(([row]) => words.every((word) => row.includes(word)))) {
    const [ok, note] = await work().catch((error) => [false, error.message]);
    broken += ok ? 0 : 1;
    console.log(`${name.padEnd(50)} ${ok ? "kept  " : "BROKEN"}  ${note}`);
  }
} finally {
  await machine.end();
}
console.log(broken === 0 ? "\nevery row kept" : `\n${broken} broken`);
process.exit(broken === 0 ? 0 : 1);
