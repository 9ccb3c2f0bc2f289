/** One copy in Docker Compose: the service of a project of its own, whose life is read off the engine's events. */

import { setTimeout as sleep } from "node:timers/promises";
import { LabError } from "../errors.ts";
import type { EventRecord } from "../ledger/records.ts";
import type { Copy, CopyContext, CopyExit } from "../target/copy.ts";
import { probeUntil } from "../target/readiness.ts";
import type { ComposeService } from "./compose-file.ts";
import { lastWords, signalName, type DockerEvent } from "./docker.ts";

const PROBE_WHILE_STARTING_MS = 50;
const PROBE_WHILE_LEAVING_MS = 50;
const PROBE_WHILE_SERVING_MS = 1000;
/** How long an exit may take to reach us once Compose says that the container has stopped. */
const FORGOTTEN_AFTER_MS = 10_000;
const SIGKILL = "9";

/** What the lab asks of each copy. */
export interface Readiness {
  readonly readyPath: string;
  readonly readyTimeoutMs: number;
}

export class ComposeCopy implements Copy {
  readonly name: string;
  readonly host: string;
  readonly port: number;
  pid = 0;
  readonly exited: Promise<CopyExit>;
  readonly signalled: Promise<void>;
  #signal: () => void = () => undefined;
  readonly #service: ComposeService;
  readonly #options: Readiness;
  readonly #compose: (...args: readonly string[]) => Promise<string>;
  readonly #context: CopyContext;
  readonly #serving = new AbortController();
  #end: (exit: CopyExit) => void = () => undefined;
  #exit: CopyExit | null = null;
  #told = false;
  #killed = false;

  constructor(
    name: string,
    host: string,
    port: number,
    service: ComposeService,
    options: Readiness,
    compose: (...args: readonly string[]) => Promise<string>,
    context: CopyContext,
  ) {
    this.name = name;
    this.host = host;
    this.port = port;
    this.#service = service;
    this.#options = options;
    this.#compose = compose;
    this.#context = context;
    this.signalled = new Promise((resolve) => (this.#signal = resolve));
    this.exited = new Promise((resolve) => (this.#end = resolve));
  }

  /** What the engine says of this copy's container. */
  see(event: DockerEvent): void {
    const { action, attributes, atMs } = event;
    if (action === "start") {
      this.#emit("started", { port: this.port }, atMs);
    } else if (action === "kill" && attributes["signal"] === SIGKILL && this.#told) {
      this.#killed = true;
      this.#emit(
        "killed",
        { signal: "SIGKILL", afterMs: this.#service.gracePeriodMs, reason: "grace period over" },
        atMs,
      );
    } else if (action === "kill") {
      this.#told = true;
      this.#killed = attributes["signal"] === SIGKILL;
      this.#emit("signal", { signal: signalName(attributes["signal"]) }, atMs);
      this.#signal();
    } else if (action === "die" && this.#exit === null) {
      const code = Number(attributes["exitCode"] ?? 0);
      this.#exit = this.#killed ? { code: null, signal: "SIGKILL", atMs } : { code, signal: null, atMs };
      this.#serving.abort();
      this.#signal(); // Whoever waits for it: there will be none.
      this.#emit("exited", { code: this.#exit.code, signal: this.#exit.signal, asked: this.#told }, atMs);
      this.#end(this.#exit);
    }
  }

  async ready(): Promise<void> {
    const { readyPath, readyTimeoutMs } = this.#options;
    const startedMs = this.#context.clock.now();
    const stop = AbortSignal.any([AbortSignal.timeout(readyTimeoutMs), this.#serving.signal]);
    let last: number | string = "nothing";
    const seen = await probeUntil(
      this.port,
      readyPath,
      PROBE_WHILE_STARTING_MS,
      (now) => (last = now) === 200,
      stop,
      this.host,
    );
    if (seen === 200) {
      this.#emit("ready", { afterMs: Math.round(this.#context.clock.now() - startedMs) });
      void probeUntil(
        this.port,
        readyPath,
        PROBE_WHILE_SERVING_MS,
        () => false,
        this.#serving.signal,
        this.host,
      );
      return;
    }
    const words = await this.#compose("logs", "--no-color", this.#service.name).catch(() => "");
    const tail = lastWords({ code: 0, out: words, err: "" });
    if (this.#exit !== null) {
      throw new LabError(
        "LAB_TARGET_DIED",
        `Copy ${this.name}'s container ended before it was ready (exit code ${this.#exit.code ?? "?"}). Its last lines:${tail}`,
        "Bring the service up by hand with docker compose up.",
      );
    }
    throw new LabError(
      "LAB_TARGET_NOT_READY",
      `Copy ${this.name} was not ready within ${readyTimeoutMs / 1000} s: GET ${readyPath} on its container's port ${this.#service.containerPort} gave ${last}. Its last lines:${tail}`,
      "Let it listen on 0.0.0.0 inside the container, name its readiness path with --ready or its port with --container-port.",
    );
  }

  /** Compose waits for the file's own grace period, whatever is asked here. */
  async stop(signal: NodeJS.Signals): Promise<CopyExit> {
    if (this.#exit !== null) {
      return this.#exit;
    }
    this.#serving.abort();
    const over = new AbortController();
    const watching = probeUntil(
      this.port,
      this.#options.readyPath,
      PROBE_WHILE_LEAVING_MS,
      (now) => now !== 200 && now !== "TIMEOUT",
      over.signal,
      this.host,
    ).then((seen) => {
      if (seen !== null) {
        this.#emit("not-ready", { seen });
      }
    });
    await (signal === "SIGKILL"
      ? this.#compose("kill", this.#service.name)
      : this.#compose("stop", this.#service.name));
    const exit = await Promise.race([
      this.exited,
      sleep(FORGOTTEN_AFTER_MS, null, { signal: over.signal }).catch(() => null),
    ]);
    over.abort();
    await watching;
    if (exit === null) {
      throw new LabError(
        "LAB_PLATFORM_LOST",
        `Compose says that copy ${this.name} has stopped, and the engine told of no exit within ${FORGOTTEN_AFTER_MS / 1000} s.`,
        "See docker ps -a and docker events; run again.",
      );
    }
    return exit;
  }

  exit(): CopyExit | null {
    return this.#exit;
  }

  tail(): readonly string[] {
    return [];
  }

  async end(): Promise<void> {
    this.#serving.abort();
    await this.#compose("down", "--timeout", "0", "--volumes", "--remove-orphans");
  }

  #emit(event: EventRecord["event"], detail: EventRecord["detail"], atMs = this.#context.clock.now()): void {
    this.#context.emit({ kind: "event", atMs, source: "target", copy: this.name, event, detail });
  }
}
