// Every planted bug: `find` is replaced by `replace` in `file`, and one of `tests` must fail. `lab/contract/a#A5` names the
// test of clause A5. A bug is something that somebody might really write; its name says what is wrong.
import { EXPERIMENT_BUGS } from "./experiments.mjs";
import { LAB_BUGS } from "./lab.mjs";
import { LIFECYCLE_BUGS } from "./lifecycle.mjs";
import { PROTOCOL_BUGS } from "./protocols.mjs";
import { RECORD_BUGS } from "./record.mjs";
import { SERVER_BUGS } from "./servers.mjs";
import { TAKEOVER_BUGS } from "./takeover.mjs";
import { WORK_BUGS } from "./work.mjs";

export const BUGS = [
  ...LIFECYCLE_BUGS,
  ...WORK_BUGS,
  ...SERVER_BUGS,
  ...PROTOCOL_BUGS,
  ...RECORD_BUGS,
  ...TAKEOVER_BUGS,
  ...LAB_BUGS,
  ...EXPERIMENT_BUGS,
];
