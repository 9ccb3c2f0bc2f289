// Bugs in what HTTP/2, WebSockets and streams without an end are told.
const src = (name) => `packages/lastcall/src/servers/${name}.ts`;

export const PROTOCOL_BUGS = [
  {
    name: "one-goaway-over-plain-tcp",
    file: src("http2-session"),
    find: `if (this.#raw === null || this.session.destroyed) {`,
    replace: `if (this.#raw === null || this.session.type === 0) {`,
    tests: ["lastcall/servers/http2"],
  },
  {
    name: "half-an-http2-answer-ends-in-order",
    file: src("http2-exchange"),
    find: `stream.destroy(new Error("The deadline of the shutdown has come."));`,
    replace: `stream.close(2);`,
    tests: ["lastcall/servers/http2"],
  },
  {
    name: "close-frame-inside-another",
    file: src("upgraded-socket"),
    find: `this.#asked === "firmly" ? frames.betweenFrames : frames.betweenMessages`,
    replace: `this.#asked === "firmly" || frames.accepted`,
    tests: ["lastcall/servers/upgrade"],
  },
  {
    name: "frames-after-the-close-frame",
    file: src("upgraded-socket"),
    find: `if (this.#told) { // Nothing may follow`,
    replace: `if (this.#told && chunk === null) { // Nothing may follow`,
    tests: ["lastcall/servers/upgrade"],
  },
  {
    name: "an-answer-reset-by-an-unread-body",
    file: src("lingering-close"),
    find: `if (request.complete || socket.destroyed) {`,
    replace: `if (socket.bytesRead >= 0) {`,
    tests: ["lastcall/servers/http1-corners"],
  },
  {
    name: "a-stream-without-its-last-chunk",
    file: src("streams"),
    find: `(stream.response as ServerResponse).end(stream.lastChunk);`,
    replace: `(stream.response as ServerResponse).destroy();`,
    tests: ["lastcall/servers/streams"],
  },
  {
    name: "a-ping-without-its-time",
    file: src("http2-session"),
    find: `if (leftMs <= 0) {`,
    replace: `if (leftMs <= QUIET_ROUND_TRIP_MS) {`,
    tests: ["lastcall/servers/http2"],
  },
  {
    name: "a-herd-after-a-loop-that-stood-still",
    file: src("spread"),
    find: `until - since > MOST_AT_ONCE_MS`,
    replace: `until - since > MOST_AT_ONCE_MS * windowMs`,
    tests: ["lastcall/servers/spread"],
  },
  {
    name: "spread-tells-all-at-once",
    file: src("turns"),
    find: `return this.#host.now() >= turn;`,
    replace: `return this.#host.now() >= turn || turn > 0;`,
    tests: ["lastcall/servers/streams"],
  },
];
