/** A copy of the app as the parent of a takeover has it: what can be done with it, what it tells, which sockets it is given. */

import type { InheritedSocket } from "../platform/inherited.ts";
import type { Ending } from "./ending.ts";

/** A socket as the parent holds it; `fd` is the parent's. */
export interface HeldSocket extends InheritedSocket {
  /** systemd has passed it: it is not ours to give up. */
  readonly activated: boolean;
  /** Lets go of it; the copies have it still. */
  close(): void;
  /** Nobody has it any more: a unix socket's file goes too. */
  forget(): void;
}

/** One process that runs the app. */
export interface Copy {
  readonly pid: number;
  signal(signal: NodeJS.Signals): void;
  /** Another copy serves: it stops without a drain delay. */
  leave(): void;
  /** It was given these, has not used them, and must not keep them open. */
  drop(sockets: readonly HeldSocket[]): void;
}

export interface CopyEvents {
  ready(gracePeriodMs: number | null): void;
  /** It listens: on one of the sockets that it was given, or on one that it has bound. `fresh` is that socket, handed up. */
  listens(fresh: HeldSocket, given: HeldSocket | null): void;
  failed(address: string, code: string): void;
  ended(ending: Ending): void;
}

export type StartCopy = (sockets: readonly HeldSocket[], events: CopyEvents) => Copy;
