// Runs a command to its end and says what it took of the processors, whatever program it is: the shell's own `times` has the user and
// system time of all that it has waited for.
import { spawn } from "node:child_process";
import { once } from "node:events";

const ENDS_AFTER_MS = 120_000;

/** `0m1.250s` twice in a line: user and system; the second line is that of the children. */
function childrenMs(text) {
  const [user, system] = [...text.matchAll(/(\d+)m([\d.]+)s/g)]
    .slice(-2)
    .map(([, minutes, seconds]) => (Number(minutes) * 60 + Number(seconds)) * 1000);
  return user + system;
}

export async function measured(words, options = {}) {
  const child = spawn("sh", ["-c", '"$@"; code=$?; times >&3; exit $code', "sh", ...words], {
    ...options,
    stdio: ["ignore", "pipe", "pipe", "pipe"],
    timeout: ENDS_AFTER_MS,
  });
  const texts = ["", "", ""];
  for (const [index, stream] of child.stdio.slice(1).entries()) {
    stream.setEncoding("utf8").on("data", (part) => {
      texts[index] += part;
    });
  }
  const [code] = await once(child, "close");
  const [out, err, times] = texts;
  if (code === null) throw new Error(`${words.join(" ")}: did not end in time.`);
  return { code, out, err, cpuMs: childrenMs(times) };
}
