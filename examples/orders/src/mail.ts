/** Mails, sent some time after they were asked for. The outbox has one line for each that was really sent. */

import { setTimeout as sleep } from "node:timers/promises";
import { openLines, type Note } from "./lines.ts";

export const MAIL_MODES = ["background", "task", "tracked"] as const;
export type MailMode = (typeof MAIL_MODES)[number];

export interface Mail {
  readonly mode: MailMode;
  readonly tag: string;
  readonly delayMs: number;
}

export interface Mailer {
  /** Rejects when the signal fires before the mail is out. */
  send(mail: Mail, signal?: AbortSignal): Promise<void>;
  /** Asked for and not (yet) sent. */
  readonly unsent: number;
}

export function createMailer(outboxFile: string | undefined, note: Note): Mailer {
  const outbox = openLines(outboxFile);
  let unsent = 0;
  return {
    get unsent() {
      return unsent;
    },
    async send({ mode, tag, delayMs }, signal) {
      unsent += 1;
      try {
        await sleep(delayMs, undefined, signal === undefined ? {} : { signal });
      } catch (error) {
        note("mail aborted", { mode, tag });
        throw error;
      }
      outbox.write(JSON.stringify({ wallMs: Date.now(), mode, tag }));
      unsent -= 1;
      note("mail sent", { mode, tag });
    },
  };
}
