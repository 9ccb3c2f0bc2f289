/**
 * The parent of a takeover: it holds the listening sockets and never accepts, so that connections wait in their queues
 * whatever happens to the copies of the app. A reload starts a new copy, and only when that is ready the old one leaves. A
 * stop is the copies' own stop, within the grace period, and the parent exits as the serving copy did.
 */

import { formatDuration } from "../duration.ts";
import { LastcallError, type LastcallErrorCode } from "../errors.ts";
import type { Host, Undo } from "../host.ts";
import { describeSocket } from "../platform/inherited.ts";
import type { Copy, HeldSocket, StartCopy } from "./copy.ts";
import { exitCodeOf, type Ending } from "./ending.ts";

export interface ParentOptions {
  readonly gracePeriodMs: number;
  readonly readyTimeoutMs: number;
  /** The sockets that systemd has passed. */
  readonly sockets: readonly HeldSocket[];
  readonly start: StartCopy;
  /** The parent is through. Called once. */
  readonly ended: (exitCode: number) => void;
}

/** What the parent knows of a copy beside what it can do with it. */
interface Known {
  readonly copy: Copy;
  readonly used: Set<HeldSocket>;
  /** Why it could not listen, if so. */
  failure: string | null;
  gracePeriodMs: number;
  /** The timer that runs: until ready, or until SIGKILL. */
  timer: Undo;
}

export type ReloadResult = "replaced" | "kept" | "stopping";

export class TakeoverParent {
  readonly #host: Host;
  readonly #options: ParentOptions;
  #sockets: HeldSocket[];
  /** Let go of while copies may still accept from them. */
  readonly #released: HeldSocket[] = [];
  /** The copy that serves. */
  #serving: Known | null = null;
  /** The one that is to serve next. */
  #coming: Known | null = null;
  readonly #leaving = new Set<Known>();
  #waiting: ((result: ReloadResult) => void)[] = [];
  /** Those who asked while a copy was coming: it may have been started before what they mean had changed. */
  #asked: ((result: ReloadResult) => void)[] = [];
  #stopping = false;
  #exitCode: number | null = null;
  #through = false;

  constructor(host: Host, options: ParentOptions) {
    this.#host = host;
    this.#options = options;
    this.#sockets = [...options.sockets];
  }

  start(): void {
    this.#launch();
  }

  /** `kept`: the new copy came to nothing, and the old one goes on serving. */
  reload(): Promise<ReloadResult> {
    return new Promise((resolve) => {
      if (this.#stopping || this.#exitCode !== null) {
        resolve("stopping");
      } else if (this.#coming !== null) {
        this.#asked.push(resolve);
        this.#say("a reload is under way; another one follows it");
      } else {
        this.#waiting.push(resolve);
        this.#notify(["RELOADING=1", "STATUS=reloading"]);
        this.#launch();
      }
    });
  }

  /** Every stop signal is passed on, so that a second one means to the copies what it would mean without us. */
  stop(signal: NodeJS.Signals): void {
    if (!this.#stopping) {
      this.#stopping = true;
      this.#settle(this.#waiting, "stopping");
      this.#settle(this.#asked, "stopping");
      this.#say(`${signal}: passed on to ${this.#all().map(describe).join(" and ")}`);
      this.#notify([
        "STOPPING=1",
        "STATUS=draining",
        `EXTEND_TIMEOUT_USEC=${Math.ceil(this.#graceMs() * 1000)}`,
      ]);
      // From here on the sockets are the copies' alone: what they close is closed, and nobody waits for nobody.
      this.#dropSockets(() => true);
      this.#all().forEach((known) => this.#killLater(known));
    }
    this.#all().forEach(({ copy }) => copy.signal(signal));
    this.#checkThrough();
  }

  #launch(): void {
    const sockets = [...this.#sockets];
    const known: Known = {
      copy: this.#options.start(sockets, {
        ready: (gracePeriodMs) => this.#ready(known, gracePeriodMs),
        listens: (fresh, given) => this.#listens(known, fresh, given),
        failed: (address, code) => {
          known.failure = code === "EADDRINUSE" ? `${address} is in use` : `${address}: ${code}`;
        },
        ended: (ending) => this.#ended(known, ending),
      }),
      used: new Set(),
      failure: null,
      gracePeriodMs: this.#options.gracePeriodMs,
      timer: this.#host.setTimer(this.#options.readyTimeoutMs, () => this.#notReady(known)),
    };
    this.#coming = known;
    this.#say(`${describe(known)} starts`);
  }

  #listens(known: Known, fresh: HeldSocket, given: HeldSocket | null): void {
    const isHeld = given !== null && this.#sockets.includes(given);
    if (this.#stopping || isHeld) {
      fresh.close();
    } else {
      this.#sockets.push(fresh);
    }
    known.used.add(isHeld ? given : fresh);
  }

  #ready(known: Known, gracePeriodMs: number | null): void {
    known.gracePeriodMs = gracePeriodMs ?? known.gracePeriodMs;
    if (known !== this.#coming || this.#stopping) {
      return;
    }
    known.timer();
    const old = this.#serving;
    this.#serving = known;
    this.#coming = null;
    const next = old === null ? `kill -HUP ${this.#host.facts.pid} replaces it` : `${describe(old)} leaves`;
    this.#say(`${describe(known)} is ready; ${next}`);
    this.#notify(["READY=1", `STATUS=serving, ${describe(known)}`]);
    this.#host.tellParent("ready");
    if (old !== null) {
      this.#leaving.add(old);
      this.#killLater(old);
      old.copy.leave();
    }
    this.#settle(this.#waiting, "replaced");
    this.#next();
  }

  #notReady(known: Known): void {
    this.#warn(
      "LASTCALL_TAKEOVER_READY",
      `${describe(known)} has not become ready within ${formatDuration(this.#options.readyTimeoutMs)}.${this.#goesOn()}`,
    );
    this.#notComing(known, 1);
    this.#leaving.add(known);
    this.#killLater(known);
    known.copy.signal("SIGTERM");
  }

  #ended(known: Known, ending: Ending): void {
    known.timer();
    this.#leaving.delete(known);
    const how = `${describe(known)} has ended with ${ending.signal ?? `exit code ${ending.code}`}`;
    if (known === this.#coming) {
      const code: LastcallErrorCode =
        known.failure === null ? "LASTCALL_TAKEOVER_START" : "LASTCALL_TAKEOVER_PORT";
      const why = known.failure === null ? "" : ` (${known.failure})`;
      if (!this.#stopping) {
        this.#warn(code, `${how} before it was ready${why}.${this.#goesOn()}`);
      }
      this.#notComing(known, exitCodeOf(ending));
    } else if (known === this.#serving) {
      this.#serving = null;
      this.#say(
        this.#coming === null ? how : `${how}; ${describe(this.#coming)} takes its place when it is ready`,
      );
      if (this.#coming === null || this.#stopping) {
        this.#exitCode = exitCodeOf(ending);
        this.#dropSockets(() => true);
      }
    } else {
      this.#say(how);
    }
    if (this.#leaving.size === 0 && this.#coming === null && this.#serving !== null) {
      this.#dropUnused();
    }
    this.#checkThrough();
  }

  /** The copy that was to serve next will not. */
  #notComing(known: Known, exitCode: number): void {
    known.timer();
    this.#coming = null;
    if (this.#serving === null || this.#stopping) {
      // The first copy, or the last hope.
      this.#exitCode ??= exitCode;
      this.#settle(this.#waiting, "stopping");
      this.#settle(this.#asked, "stopping");
      return;
    }
    this.#notify(["READY=1", `STATUS=serving, ${describe(this.#serving)}; the last reload failed`]);
    this.#settle(this.#waiting, "kept");
    this.#next();
  }

  #next(): void {
    if (this.#asked.length > 0 && !this.#stopping) {
      const asked = this.#asked.splice(0);
      void this.reload().then((result) => this.#settle(asked, result));
    }
  }

  /** A socket that the serving copy has not asked for is accepted by nobody: better refused than left waiting. */
  #dropUnused(): void {
    const used = this.#serving?.used;
    this.#dropSockets((socket) => used?.has(socket) !== true && !socket.activated);
  }

  #dropSockets(which: (socket: HeldSocket) => boolean): void {
    const dropped = this.#sockets.filter(which);
    this.#sockets = this.#sockets.filter((socket) => !dropped.includes(socket));
    dropped.forEach((socket) => socket.close());
    this.#released.push(...dropped);
    if (!this.#stopping && dropped.length > 0 && this.#serving !== null) {
      this.#serving.copy.drop(dropped);
      const names = dropped.map(describeSocket).join(", ");
      this.#say(`${names} is closed: ${describe(this.#serving)} does not listen there`);
    }
  }

  #killLater(known: Known): void {
    known.timer();
    known.timer = this.#host.setTimer(known.gracePeriodMs, () => {
      this.#say(
        `${describe(known)} is killed: its grace period of ${formatDuration(known.gracePeriodMs)} is over`,
      );
      known.copy.signal("SIGKILL");
    });
  }

  #checkThrough(): void {
    const mayEnd = this.#stopping || this.#exitCode !== null;
    if (mayEnd && this.#all().length === 0 && !this.#through) {
      this.#through = true;
      this.#dropSockets(() => true);
      this.#released.forEach((socket) => socket.forget());
      this.#options.ended(this.#exitCode ?? 0);
    }
  }

  #all(): readonly Known[] {
    return [this.#serving, this.#coming, ...this.#leaving].filter((known) => known !== null);
  }

  #graceMs(): number {
    return Math.max(this.#options.gracePeriodMs, ...this.#all().map(({ gracePeriodMs }) => gracePeriodMs));
  }

  #goesOn(): string {
    return this.#serving === null ? "" : ` ${describe(this.#serving)} goes on serving.`;
  }

  #settle(waiting: ((result: ReloadResult) => void)[], result: ReloadResult): void {
    waiting.splice(0).forEach((resolve) => resolve(result));
  }

  #notify(assignments: readonly string[]): void {
    this.#host.notifySystemd(assignments, (why) => this.#say(`warning: systemd was not told: ${why}`));
  }

  #warn(code: LastcallErrorCode, what: string): void {
    this.#say(`warning: ${new LastcallError(code, what).message}`);
  }

  #say(line: string): void {
    if (this.#host.env["LASTCALL_LOG"] !== "none") {
      this.#host.writeLine(`lastcall-takeover: ${line}`);
    }
  }
}

function describe({ copy }: { readonly copy: Copy }): string {
  return `pid ${copy.pid}`;
}
