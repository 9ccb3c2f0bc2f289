/**
 * `node --import lastcall/auto app.js`: the lifecycle for an app without a line of code. Loading it is asking for it, so
 * this is the one module whose import does something. docs/auto.md says what.
 */

import { startAuto } from "./auto-start.ts";
import { nodeHost } from "./node-host.ts";

startAuto(nodeHost());
