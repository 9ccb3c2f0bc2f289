/** The HTTP/2 sessions of a load: a few that are used in turn, and what they tell of why a stream of theirs has ended. */

import {
  connect as connectHttp2,
  constants,
  type ClientHttp2Session,
  type ClientHttp2Stream,
} from "node:http2";
import net from "node:net";
import { codeOf, type LibraryClientOptions } from "./library-client.ts";

/** Used in turn. A balancer of layer 4 gives each to one copy: with one alone a copy would get everything and the others nothing. */
const SESSIONS = 4;

export interface Session {
  readonly id: number;
  readonly bornMs: number;
  readonly http2: ClientHttp2Session;
  connectedMs: number;
  /** Streams so far. */
  carried: number;
  /** Of the lowest GOAWAY that came: streams above it were not worked on. */
  lastStream: number | null;
  /** How its connection ended: `EOF`, `ECONNRESET`, `ECONNREFUSED`. */
  ended: string | null;
}

export interface Sessions {
  /** The one whose turn it is; a new one for a request that wants its own, and where none is kept. */
  next(fresh: boolean): Session;
  /** It takes no more streams. */
  retire(session: Session): void;
  /** Ends all at once. */
  destroy(): void;
}

export function createSessions({
  host,
  port,
  keepAlive,
  now,
}: Pick<LibraryClientOptions, "host" | "port" | "keepAlive" | "now">): Sessions {
  const authority = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  const all = new Set<Session>();
  const places: (Session | undefined)[] = [];
  let turn = 0;
  let lastId = 0;

  function connect(): Session {
    const socket = net.connect({ host, port, noDelay: true, autoSelectFamily: false });
    const http2 = connectHttp2(authority, { createConnection: () => socket });
    const session: Session = {
      id: (lastId += 1),
      bornMs: now(),
      http2,
      connectedMs: Number.NaN,
      carried: 0,
      lastStream: null,
      ended: null,
    };
    socket.once("connect", () => (session.connectedMs = now()));
    // Before the session's own listeners: its streams end after we know why.
    socket.prependOnceListener("end", () => (session.ended ??= "EOF"));
    socket.prependOnceListener("error", (error) => (session.ended ??= codeOf(error)));
    socket.prependOnceListener("close", () => (session.ended ??= "EOF"));
    http2.on("goaway", (_code, lastStream) => {
      session.lastStream = Math.min(session.lastStream ?? Number.POSITIVE_INFINITY, lastStream ?? 0);
    });
    // Its streams tell of it, each for itself.
    http2.on("error", () => undefined);
    http2.once("close", () => all.delete(session));
    all.add(session);
    return session;
  }

  function isUsable({ http2, lastStream, ended }: Session): boolean {
    return lastStream === null && ended === null && !http2.closed && !http2.destroyed;
  }

  function next(fresh: boolean): Session {
    if (fresh || !keepAlive) {
      return connect();
    }
    turn = (turn + 1) % SESSIONS;
    const known = places[turn];
    const session = known !== undefined && isUsable(known) ? known : connect();
    places[turn] = session;
    return session;
  }

  return {
    next,
    retire: (session) => {
      const place = places.indexOf(session);
      if (place !== -1) {
        places[place] = undefined;
      }
    },
    destroy: () => {
      for (const { http2 } of all) {
        http2.destroy();
      }
    },
  };
}

/** By number: `INTERNAL_ERROR`, `CANCEL`, ... */
const RESET_NAMES: ReadonlyMap<number, string> = new Map(
  Object.entries(constants).flatMap(([name, value]) => {
    // The constants of errors are those that stand before this one, and have no other word in front.
    const code =
      /^NGHTTP2_((?:[A-Z]+_ERROR)|CANCEL|REFUSED_STREAM|SETTINGS_TIMEOUT|STREAM_CLOSED|ENHANCE_YOUR_CALM|INADEQUATE_SECURITY|HTTP_1_1_REQUIRED)$/.exec(
        name,
      )?.[1];
    return code === undefined || typeof value !== "number" ? [] : [[value, code] as const];
  }),
);

/** Why the stream has no whole answer. */
export function codeFor(session: Session, stream: ClientHttp2Stream, failure: Error | null): string {
  const { lastStream, ended, http2 } = session;
  const reset = stream.rstCode ?? constants.NGHTTP2_NO_ERROR;
  if (
    reset === constants.NGHTTP2_REFUSED_STREAM ||
    (lastStream !== null && stream.id !== undefined && stream.id > lastStream)
  ) {
    return "REFUSED_STREAM";
  }
  // A server that destroys a session resets its streams with NO_ERROR first.
  if (ended !== null || http2.destroyed || reset === constants.NGHTTP2_NO_ERROR) {
    return lastStream === null ? (ended ?? codeOf(failure ?? { code: "EOF" })) : "GOAWAY";
  }
  return `RST_${RESET_NAMES.get(reset) ?? reset}`;
}
