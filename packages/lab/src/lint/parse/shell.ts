/**
 * A reader for shell text: enough of the grammar to say which command runs last, whether it is `exec`ed, and what
 * stands around it. It gives undefined for text it does not understand; nothing is then claimed about that text. Longer than
 * most files: one grammar, read by one parser.
 */

import { type Token, tokenize, type Word } from "./shell-words.ts";

export type ShellCommand =
  | {
      readonly kind: "simple";
      readonly assigns: readonly Word[];
      readonly words: readonly Word[];
      readonly redirects: number;
      readonly start: number;
      readonly end: number;
    }
  | {
      readonly kind: "group" | "subshell";
      readonly body: ShellList;
      readonly redirects: number;
      readonly start: number;
      readonly end: number;
    }
  | {
      readonly kind: "branch" | "loop";
      readonly bodies: readonly ShellList[];
      readonly start: number;
      readonly end: number;
    }
  | {
      readonly kind: "function";
      readonly name: string;
      readonly body: ShellCommand;
      readonly start: number;
      readonly end: number;
    };

export interface Chained {
  /** What joins it to the pipeline before. */
  readonly op: "" | "&&" | "||";
  readonly pipeline: readonly ShellCommand[];
}

export interface ShellItem {
  readonly chain: readonly Chained[];
  readonly background: boolean;
}

export type ShellList = readonly ShellItem[];

const MAX_DEPTH = 60;

export function parseShell(text: string): ShellList | undefined {
  const tokens = tokenize(text);
  if (tokens === undefined) {
    return undefined;
  }
  const parser = new Parser(tokens);
  const list = parser.list([], 0);
  return parser.ok && parser.atEnd ? list : undefined;
}

const CLOSERS = new Set(["}", "fi", "done", "esac", "then", "else", "elif", "do", ")"]);

class Parser {
  readonly #tokens: readonly Token[];
  #at = 0;
  ok = true;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  get atEnd(): boolean {
    return this.#at >= this.#tokens.length;
  }

  #op(): string | undefined {
    const token = this.#tokens[this.#at];
    return token?.kind === "op" ? token.op : undefined;
  }

  /** The next token when it is an unquoted word. */
  #reserved(): string | undefined {
    const token = this.#tokens[this.#at];
    return token?.kind === "word" && token.word.raw === token.word.text ? token.word.text : undefined;
  }

  #newlines(): void {
    while (this.#op() === "\n") {
      this.#at += 1;
    }
  }

  #expect(word: string): void {
    if (this.#reserved() === word || this.#op() === word) {
      this.#at += 1;
    } else {
      this.ok = false;
    }
  }

  list(stops: readonly string[], depth: number): ShellList {
    const list: ShellItem[] = [];
    if (depth > MAX_DEPTH) {
      this.ok = false;
    }
    for (;;) {
      while (this.#op() === "\n" || this.#op() === ";") {
        this.#at += 1;
      }
      const next = this.#reserved() ?? this.#op();
      if (!this.ok || this.atEnd || (next !== undefined && (stops.includes(next) || CLOSERS.has(next)))) {
        return list;
      }
      const chain: Chained[] = [{ op: "", pipeline: this.#pipeline(depth) }];
      while (this.ok && (this.#op() === "&&" || this.#op() === "||")) {
        const op = this.#op() as "&&" | "||";
        this.#at += 1;
        this.#newlines();
        chain.push({ op, pipeline: this.#pipeline(depth) });
      }
      const background = this.#op() === "&";
      list.push({ chain, background });
      if (background) {
        this.#at += 1;
      } else if (!this.atEnd && ![";", "\n"].includes(this.#op() ?? "")) {
        const end = this.#reserved() ?? this.#op();
        if (end === undefined || !(stops.includes(end) || CLOSERS.has(end))) {
          this.ok = false;
        }
      }
    }
  }

  #pipeline(depth: number): readonly ShellCommand[] {
    if (this.#reserved() === "!") {
      this.#at += 1;
    }
    const commands = [this.#command(depth)];
    while (this.ok && (this.#op() === "|" || this.#op() === "|&")) {
      this.#at += 1;
      this.#newlines();
      commands.push(this.#command(depth));
    }
    return commands;
  }

  #command(depth: number): ShellCommand {
    const start = this.#start();
    const word = this.#reserved();
    const next = this.#tokens[this.#at + 1];
    const after = this.#tokens[this.#at + 2];
    if (this.#op() === "(") {
      this.#at += 1;
      const body = this.list([")"], depth + 1);
      this.#expect(")");
      return { kind: "subshell", body, redirects: this.#redirects(), start, end: this.#end() };
    }
    if (word === "{") {
      this.#at += 1;
      const body = this.list(["}"], depth + 1);
      this.#expect("}");
      return { kind: "group", body, redirects: this.#redirects(), start, end: this.#end() };
    }
    if (
      word === "if" ||
      word === "while" ||
      word === "until" ||
      word === "for" ||
      word === "case" ||
      word === "select"
    ) {
      return this.#compound(word, start, depth);
    }
    const isFunction =
      word !== undefined &&
      next?.kind === "op" &&
      next.op === "(" &&
      after?.kind === "op" &&
      after.op === ")";
    if (isFunction || word === "function") {
      if (word === "function") {
        this.#at += 1;
      }
      const name = this.#reserved() ?? "";
      this.#at += 1;
      if (this.#op() === "(") {
        this.#at += 1;
        this.#expect(")");
      }
      this.#newlines();
      return { kind: "function", name, body: this.#command(depth + 1), start, end: this.#end() };
    }
    return this.#simple(start);
  }

  #compound(word: string, start: number, depth: number): ShellCommand {
    this.#at += 1;
    const bodies: ShellList[] = [];
    if (word === "if") {
      this.list(["then"], depth + 1);
      this.#expect("then");
      bodies.push(this.list(["elif", "else", "fi"], depth + 1));
      while (this.ok && this.#reserved() === "elif") {
        this.#at += 1;
        this.list(["then"], depth + 1);
        this.#expect("then");
        bodies.push(this.list(["elif", "else", "fi"], depth + 1));
      }
      if (this.#reserved() === "else") {
        this.#at += 1;
        bodies.push(this.list(["fi"], depth + 1));
      }
      this.#expect("fi");
    } else if (word === "case") {
      this.#case(bodies, depth);
    } else {
      if (word === "while" || word === "until") {
        this.list(["do"], depth + 1);
      } else {
        while (!this.atEnd && this.#reserved() !== "do") {
          this.#at += 1;
        }
      }
      this.#expect("do");
      bodies.push(this.list(["done"], depth + 1));
      this.#expect("done");
    }
    this.#redirects();
    const kind = word === "if" || word === "case" ? "branch" : "loop";
    return { kind, bodies, start, end: this.#end() };
  }

  #case(bodies: ShellList[], depth: number): void {
    this.#at += 1;
    this.#newlines();
    this.#expect("in");
    for (;;) {
      this.#newlines();
      if (!this.ok || this.atEnd || this.#reserved() === "esac") {
        break;
      }
      if (this.#op() === "(") {
        this.#at += 1;
      }
      while (!this.atEnd && this.#op() !== ")") {
        this.#at += 1;
      }
      this.#expect(")");
      bodies.push(this.list([";;", ";&", ";;&", "esac"], depth + 1));
      if ([";;", ";&", ";;&"].includes(this.#op() ?? "")) {
        this.#at += 1;
      }
    }
    this.#expect("esac");
  }

  #simple(start: number): ShellCommand {
    const assigns: Word[] = [];
    const words: Word[] = [];
    let redirects = 0;
    for (;;) {
      const token = this.#tokens[this.#at];
      if (token?.kind === "word") {
        const isAssign = words.length === 0 && /^[A-Za-z_]\w*\+?=/.test(token.word.raw);
        (isAssign ? assigns : words).push(token.word);
        this.#at += 1;
        if (isAssign && token.word.raw.endsWith("=") && this.#op() === "(") {
          // A bash array: skip to its end.
          while (!this.atEnd && this.#op() !== ")") {
            this.#at += 1;
          }
          this.#expect(")");
        }
      } else if (token?.kind === "redirect") {
        redirects += 1;
        this.#skipRedirect(token.needsWord);
      } else {
        break;
      }
    }
    if (assigns.length + words.length + redirects === 0) {
      this.ok = false;
    }
    return { kind: "simple", assigns, words, redirects, start, end: this.#end() };
  }

  #skipRedirect(needsWord: boolean): void {
    this.#at += 1;
    if (needsWord) {
      this.ok &&= this.#tokens[this.#at]?.kind === "word";
      this.#at += 1;
    }
  }

  #redirects(): number {
    let count = 0;
    for (let token = this.#tokens[this.#at]; token?.kind === "redirect"; token = this.#tokens[this.#at]) {
      count += 1;
      this.#skipRedirect(token.needsWord);
    }
    return count;
  }

  #start(): number {
    const token = this.#tokens[this.#at];
    return token === undefined ? 0 : token.kind === "word" ? token.word.start : token.start;
  }

  #end(): number {
    const token = this.#tokens[Math.min(this.#at, this.#tokens.length) - 1];
    return token === undefined ? 0 : token.kind === "word" ? token.word.end : token.end;
  }
}
