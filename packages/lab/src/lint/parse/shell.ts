/**
 * A reader for shell text: enough of the grammar to say which command runs last, whether it is `exec`ed, and what
 * stands around it. It gives undefined for text it does not understand; nothing is then claimed about that text.
 */

export interface Word {
  /** Quotes removed; expansions kept as written. */
  readonly text: string;
  /** No expansion in it: what stands there is what the program gets. */
  readonly literal: boolean;
  /** As written. */
  readonly raw: string;
  readonly start: number;
  readonly end: number;
}

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

type Token =
  | { readonly kind: "word"; readonly word: Word }
  | { readonly kind: "op"; readonly op: string; readonly start: number; readonly end: number }
  | { readonly kind: "redirect"; readonly start: number; readonly end: number; readonly needsWord: boolean };

const OPERATORS = [";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")", "\n"];
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

/** The words of one line, as a shell would split them: for Compose strings and `systemd`-like lines too. */
export function splitWords(text: string): readonly Word[] | undefined {
  const words: Word[] = [];
  let at = 0;
  while (at < text.length) {
    if (/\s/.test(text[at] ?? "")) {
      at += 1;
      continue;
    }
    const word = readWord(text, at, true);
    if (word === undefined) {
      return undefined;
    }
    words.push(word);
    at = word.end;
  }
  return words;
}

function tokenize(text: string): readonly Token[] | undefined {
  const tokens: Token[] = [];
  const heredocs: { end: string; strip: boolean }[] = [];
  let at = 0;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (char === " " || char === "\t" || char === "\r") {
      at += 1;
    } else if (char === "\\" && /^\\\r?\n/.test(text.slice(at, at + 3))) {
      at += text[at + 1] === "\r" ? 3 : 2;
    } else if (char === "#") {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end;
    } else {
      const redirect = /^(\d*|&)(>>|>\||>&|<<<|<<-?|<>|<&|>|<)(?!\()/.exec(text.slice(at, at + 8));
      if (redirect !== null && (redirect[1] !== "&" || (redirect[2] ?? "").startsWith(">"))) {
        let end = at + redirect[0].length;
        const kind = redirect[2] ?? "";
        if (kind === "<<" || kind === "<<-") {
          const rest = /^[ \t]*/.exec(text.slice(end, end + 40))?.[0].length ?? 0;
          const word = readWord(text, end + rest, false);
          if (word === undefined) {
            return undefined;
          }
          heredocs.push({ end: word.text, strip: kind === "<<-" });
          end = word.end;
          tokens.push({ kind: "redirect", start: at, end, needsWord: false });
        } else {
          tokens.push({ kind: "redirect", start: at, end, needsWord: true });
        }
        at = end;
        continue;
      }
      const op = OPERATORS.find((candidate) => text.startsWith(candidate, at));
      if (op !== undefined) {
        tokens.push({ kind: "op", op, start: at, end: at + op.length });
        at += op.length;
        if (op === "\n") {
          for (const { end, strip } of heredocs.splice(0)) {
            for (let done = false; !done && at < text.length;) {
              const stop = text.indexOf("\n", at);
              const line = text.slice(at, stop === -1 ? text.length : stop).replace(/\r$/, "");
              at = stop === -1 ? text.length : stop + 1;
              done = (strip ? line.replace(/^\t+/, "") : line) === end;
            }
          }
        }
        continue;
      }
      const word = readWord(text, at, false);
      if (word === undefined || word.end === at) {
        return undefined;
      }
      tokens.push({ kind: "word", word });
      at = word.end;
    }
  }
  return tokens;
}

/** Reads one word; with `plain`, operators are ordinary characters (no shell will see them). */
function readWord(text: string, start: number, plain: boolean): Word | undefined {
  let at = start;
  let value = "";
  let literal = true;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (
      /\s/.test(char) ||
      (!plain && /[;&|<>()]/.test(char) && !(/[<>]/.test(char) && text[at + 1] === "("))
    ) {
      break;
    }
    if (char === "\\") {
      if (/^\\\r?\n/.test(text.slice(at, at + 3))) {
        at += text[at + 1] === "\r" ? 3 : 2;
        continue;
      }
      value += text[at + 1] ?? "";
      at += 2;
    } else if (char === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) {
        return undefined;
      }
      value += text.slice(at + 1, end);
      at = end + 1;
    } else if (char === '"') {
      at += 1;
      for (;;) {
        const inner = text[at];
        if (inner === undefined) {
          return undefined;
        }
        if (inner === '"') {
          at += 1;
          break;
        }
        if (inner === "\\" && /["\\$`\n]/.test(text[at + 1] ?? "")) {
          value += text[at + 1] === "\n" ? "" : text[at + 1];
          at += 2;
        } else if (inner === "$" || inner === "`") {
          const end = skipExpansion(text, at);
          if (end === undefined) {
            return undefined;
          }
          literal &&= end === at + 1 && inner === "$";
          value += text.slice(at, end);
          at = end;
        } else {
          value += inner;
          at += 1;
        }
      }
    } else if (char === "$" || char === "`" || ((char === "<" || char === ">") && text[at + 1] === "(")) {
      const end = skipExpansion(text, at);
      if (end === undefined) {
        return undefined;
      }
      literal &&= end === at + 1 && char === "$";
      value += text.slice(at, end);
      at = end;
    } else {
      literal &&=
        plain ||
        !/[*?[]/.test(char) ||
        text.slice(start, at + 2) === "[" ||
        /^\[\[?(\s|$)/.test(text.slice(start));
      value += char;
      at += 1;
    }
  }
  return { text: value, literal, raw: text.slice(start, at), start, end: at };
}

/** From `$`, a backquote or `<(` to the end of the expansion. */
function skipExpansion(text: string, at: number): number | undefined {
  if (text[at] === "`") {
    const end = text.indexOf("`", at + 1);
    return end === -1 ? undefined : end + 1;
  }
  const next = text[at + 1];
  if (next === "(" || next === "{") {
    const close = next === "(" ? ")" : "}";
    let depth = 0;
    for (let here = at + 1; here < text.length; here += 1) {
      const char = text[here];
      if (char === "\\") {
        here += 1;
      } else if (char === "'" && next === "(") {
        const end = text.indexOf("'", here + 1);
        if (end === -1) {
          return undefined;
        }
        here = end;
      } else if (char === next) {
        depth += 1;
      } else if (char === close) {
        depth -= 1;
        if (depth === 0) {
          return here + 1;
        }
      }
    }
    return undefined;
  }
  const name = /^\$([A-Za-z_]\w*|[0-9@*#?$!-])/.exec(text.slice(at, at + 80));
  return at + (name === null ? 1 : name[0].length);
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
