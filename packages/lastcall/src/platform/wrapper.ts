/**
 * Who stands between this process and whoever stops it, and passes no signal on. Measured with dash, bash, busybox, npm
 * 11, yarn 1 and pnpm 10 on Debian 12. Pure; `Host.facts.ancestors` reads the processes.
 */

/** A process above this one: its arguments, and the text of the script that it runs where it runs one. */
export interface Ancestor {
  readonly pid: number;
  readonly args: readonly string[];
  readonly script?: string;
}

const SHELL = /(?:^|\/)-?(?:sh|dash|bash|ash|ksh|zsh|busybox)$/;
const PACKAGE_MANAGER = /^(?:npm|npx|pnpm|pnpx|yarn|yarnpkg)$/;

/**
 * What to say of the processes above, nearest first; null when the signal reaches this one. A shell that is still there
 * did not replace itself by the program, so it is the shell that gets the signal, and no shell passes one on.
 */
export function describeWrapper(ancestors: readonly Ancestor[]): string | null {
  const [parent, above] = ancestors;
  if (parent === undefined) {
    return null;
  }
  const command = SHELL.test(parent.args[0] ?? "") ? shellCommand(parent) : null;
  // Whoever stops the container signals PID 1, whatever that has started in the background.
  const shell =
    command !== null && parent.pid !== 1 && isBackground(command.text) ? null : (command?.shown ?? null);
  const manager = managerOf(shell === null ? parent : above);
  if (shell !== null) {
    const by = manager === null ? "" : `, started by \`${manager}\`,`;
    return (
      `\`${shorten(shell)}\` (pid ${parent.pid})${by} gets the stop signal instead of this process, and passes none on. ` +
      `Write \`exec node ...\` there, or start node without it.`
    );
  }
  // npm and its like pass a signal on to what they started, but yarn 1 and pnpm leave or hang without waiting for it.
  if (manager !== null && !/^np[mx]\b/.test(manager)) {
    return `\`${manager}\` (pid ${parent.pid}) does not wait for this process to end after a stop signal, or never passes it on. Start node without it.`;
  }
  return null;
}

interface ShellCommand {
  /** What people know it by. */
  readonly shown: string;
  readonly text: string;
}

/** The command line that a shell runs, or its script; null for one that somebody types into, or that traps signals itself. */
function shellCommand({ args, script }: Ancestor): ShellCommand | null {
  const rest = args.slice((args[0] ?? "").endsWith("busybox") ? 2 : 1);
  const at = rest.findIndex((arg) => /^-[a-z]*c$/.test(arg));
  const command = at === -1 ? rest.find((arg) => !arg.startsWith("-")) : rest[at + 1];
  const text = at === -1 ? (script ?? "") : command;
  if (command === undefined || text === undefined || /\btrap\b/.test(text)) {
    return null;
  }
  return { shown: at === -1 ? command : `${args[0]?.split("/").at(-1)} -c "${command}"`, text };
}

/**
 * Whether the shell starts something in the background and then does other things, as a test or a developer's script does,
 * which signals its child itself. A script that ends by waiting for its child is there to be stopped in its place.
 */
function isBackground(text: string): boolean {
  const lines = text.split("\n").filter((line) => !/^\s*(?:#|$)/.test(line));
  return (
    /(?:^|[^&>|<])&(?![&>])/.test(lines.join("\n")) &&
    !/(?:^|[;&|]\s*)\s*wait\b[^;]*;?\s*(?:exit\b[^;]*)?$/.test(lines.at(-1) ?? "")
  );
}

/** Whether a program is no service but starts one, and has a stop of its own to see to: a package manager, our own parent. */
export function isStarter(program: string): boolean {
  const name = nameOf(program);
  return PACKAGE_MANAGER.test(name) || name === "node-takeover-main";
}

/** `npm start`: what npm calls its process is one argument, yarn and pnpm run as scripts of node. */
function managerOf(ancestor: Ancestor | undefined): string | null {
  const words = (ancestor?.args ?? []).flatMap((arg) => arg.split(" ")).filter((word) => word !== "");
  const names = words.map(
    (word) =>
      word
        .split("/")
        .at(-1)
        ?.replace(/(?:-cli)?\.[cm]?js$/, "") ?? "",
  );
  const at = names.slice(0, 2).findIndex((name) => PACKAGE_MANAGER.test(name));
  return at === -1 ? null : [names[at], ...words.slice(at + 1)].join(" ");
}

function nameOf(file: string): string {
  return (file.split(/[/\\]/).at(-1) ?? "").replace(/(?:-cli)?\.[cm]?js$/, "");
}

function shorten(command: string): string {
  return command.length > 80 ? `${command.slice(0, 80)}…` : command;
}
