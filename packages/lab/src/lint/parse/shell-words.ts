/** Shell text as words and operators: quotes taken off, expansions kept as written, here documents skipped. */

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

export type Token =
  | { readonly kind: "word"; readonly word: Word }
  | { readonly kind: "op"; readonly op: string; readonly start: number; readonly end: number }
  | { readonly kind: "redirect"; readonly start: number; readonly end: number; readonly needsWord: boolean };

const OPERATORS = [";;&", ";;", ";&", "&&", "||", "|&", ";", "&", "|", "(", ")", "\n"];
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

export function tokenize(text: string): readonly Token[] | undefined {
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
