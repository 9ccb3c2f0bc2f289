/**
 * The kinds of bad requests and of findings without a loss: one entry each, with its stable id, how it shows, who has to change
 * something, and what. K01 to K44 are the failure catalogue; from K45 on stands what it does not list.
 */

import type { Kind } from "./kind.ts";
import { BEYOND, type BeyondSlug } from "./kinds-beyond.ts";
import { AT_THE_ROUTER, type RouterSlug } from "./kinds-router.ts";
import { AT_THE_START, type StartSlug } from "./kinds-start.ts";
import { AT_THE_STOP, type StopSlug } from "./kinds-stop.ts";

export type KindSlug = StopSlug | StartSlug | RouterSlug | BeyondSlug;

export const KINDS: Readonly<Record<KindSlug, Kind>> = {
  ...AT_THE_STOP,
  ...AT_THE_START,
  ...AT_THE_ROUTER,
  ...BEYOND,
};
