/** Writes a file that may hold somebody's work: what was there stays whole until the new text is whole. */

import {
  chmodSync,
  chownSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";

/** The regular file that is there already, through links; undefined for a new name and for pipes and devices. */
function present(file: string): { readonly target: string; readonly stats: Stats } | undefined {
  try {
    const target = realpathSync(file);
    const stats = statSync(target);
    return stats.isFile() && stats.nlink === 1 ? { target, stats } : undefined;
  } catch {
    return undefined;
  }
}

/** A folder that takes no new file may still hold one that can be written. */
const NO_NEW_FILE = new Set(["EACCES", "EPERM", "EROFS"]);

/** Throws what the system says. */
export function saveFile(file: string, text: string): void {
  const old = present(file);
  if (old === undefined) {
    writeFileSync(file, text);
    return;
  }
  const next = `${old.target}.lastcall-${process.pid}`;
  try {
    writeFileSync(next, text, { flag: "wx" });
    try {
      chownSync(next, old.stats.uid, old.stats.gid);
    } catch {
      // Only root may give a file away; whoever else could write it keeps it.
    }
    chmodSync(next, old.stats.mode);
    renameSync(next, old.target);
  } catch (error) {
    rmSync(next, { force: true });
    if (!NO_NEW_FILE.has((error as NodeJS.ErrnoException).code ?? "")) {
      throw error;
    }
    writeFileSync(old.target, text);
  }
}
