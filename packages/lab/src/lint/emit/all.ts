/** The platforms that a budget can be written for, and the file each snippet belongs into. */

import { compose } from "./compose.ts";
import { docker } from "./docker.ts";
import { haproxy } from "./haproxy.ts";
import { kubernetes } from "./kubernetes.ts";
import { nginx } from "./nginx.ts";
import type { Sized } from "./numbers.ts";
import { systemd } from "./systemd.ts";

export interface Emitter {
  readonly file: string;
  readonly write: (sized: Sized) => string;
}

export const EMITTERS: Readonly<Record<string, Emitter>> = {
  kubernetes: { file: "kubernetes.yaml", write: kubernetes },
  compose: { file: "compose.yaml", write: compose },
  systemd: { file: "app.service", write: systemd },
  docker: { file: "Dockerfile", write: docker },
  nginx: { file: "nginx.conf", write: nginx },
  haproxy: { file: "haproxy.cfg", write: haproxy },
};
