// Bugs in how listening sockets outlive a process: the takeover's parent and its copies, and socket activation.
const src = (name) => `packages/lastcall/src/${name}.ts`;
const TAKEOVER = ["lastcall/takeover"];
const PARENT = ["lastcall/takeover/parent"];

export const TAKEOVER_BUGS = [
  {
    name: "a-reload-waits-for-routers",
    file: src("lifecycle"),
    find: `this.#state === "starting" || isReplaced(this.#host) ||`,
    replace: `this.#state === "starting" ||`,
    tests: TAKEOVER,
  },
  {
    name: "the-old-copy-leaves-when-the-new-one-starts",
    file: src("takeover/parent"),
    find: `this.#coming = known; this.#say(`,
    replace: `this.#coming = known; this.#serving?.copy.leave(); this.#say(`,
    tests: PARENT,
  },
  {
    name: "the-parent-keeps-the-sockets-at-a-stop",
    file: src("takeover/parent"),
    find: `this.#dropSockets(() => true); this.#all().forEach(`,
    replace: `this.#all().forEach(`,
    tests: PARENT,
  },
  {
    name: "an-unused-socket-stays-open-in-the-copy",
    file: src("takeover/parent"),
    find: `this.#serving.copy.drop(dropped);`,
    replace: ``,
    tests: PARENT,
  },
  {
    name: "a-failed-reload-ends-the-parent",
    file: src("takeover/parent"),
    find: `if (this.#serving === null || this.#stopping) {`,
    replace: `if (this.#serving === null || (this.#exitCode ?? null) === null) {`,
    tests: PARENT,
  },
  {
    name: "the-queue-of-a-passed-socket-is-shrunk",
    file: src("servers/listener"),
    find: `return server._connectionKey?.startsWith("null:null") === true;`,
    replace: `return false;`,
    tests: ["lastcall/servers/listener"],
  },
  {
    name: "listen-fds-for-somebody-else-are-used",
    file: src("platform/inherited"),
    find: `if (forPid !== String(pid)) {`,
    replace: `if (forPid === "") {`,
    tests: ["lastcall/platform/inherited"],
  },
];
