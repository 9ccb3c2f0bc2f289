/** The options of a rolling restart as flags and configuration say them. */

/** As text; absent where neither says it. */
export interface RolloutOptions {
  readonly scenario?: string;
  readonly all?: boolean;
  readonly router?: string;
  readonly propagation?: string;
  readonly order?: string;
  readonly retries?: boolean;
  readonly "retry-posts"?: boolean;
  readonly "upstream-keepalive"?: boolean;
  readonly "client-keepalive"?: boolean;
  readonly removal?: string;
  readonly "pooled-at-removal"?: string;
  readonly "health-interval"?: string;
  readonly "health-fall"?: string;
  readonly "health-rise"?: string;
  readonly "max-fails"?: string;
  readonly "fail-timeout"?: string;
  readonly rate?: string;
  readonly load?: string;
  readonly arrivals?: string;
  readonly engine?: string;
  readonly "load-workers"?: string;
  readonly protocol?: string;
  readonly copies?: string;
  readonly repeat?: string;
  readonly seed?: string;
  readonly "drain-delay"?: string;
  readonly build?: string;
  readonly ready?: string;
  readonly live?: string;
  readonly get?: string;
  readonly post?: string;
  readonly "post-body"?: string;
  readonly executed?: string;
  readonly witness?: string;
  readonly grace?: string;
  readonly "ready-timeout"?: string;
  readonly attempts?: string;
  readonly "warm-up"?: string;
  readonly explain?: boolean;
  readonly controls?: boolean;
  readonly platform?: string;
  readonly "compose-file"?: string;
  readonly service?: string;
  readonly "container-port"?: string;
  readonly url?: string;
  readonly "drain-node"?: string;
  readonly engines?: string;
  readonly command?: readonly string[];
}
