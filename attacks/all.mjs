// The attacks, in the order in which they are shown. A scenario file that is not in this list is found by a test.
import { attack as handshakes } from "./handshakes.mjs";
import { attack as http10Cut } from "./http10-cut.mjs";
import { attack as lingerEnd } from "./linger-end.mjs";
import { attack as neverTold } from "./never-told.mjs";
import { attack as ownKeepAlive } from "./own-keep-alive.mjs";
import { attack as retries } from "./retries.mjs";
import { attack as shortDelay } from "./short-delay.mjs";
import { attack as stallAtGate } from "./stall-at-gate.mjs";
import { attack as unreadBody } from "./unread-body.mjs";

export const ATTACKS = [
  lingerEnd,
  shortDelay,
  neverTold,
  stallAtGate,
  handshakes,
  unreadBody,
  ownKeepAlive,
  retries,
  http10Cut,
];
