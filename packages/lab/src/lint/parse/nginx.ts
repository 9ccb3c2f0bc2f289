/** nginx configuration: directives with words and blocks, quotes and comments, Lua blocks left alone. */

import { type Place, type Source, place } from "../source.ts";

export interface Directive {
  readonly name: string;
  readonly args: readonly string[];
  readonly at: Place;
  readonly block: readonly Directive[] | undefined;
}

export interface NginxFile {
  readonly kind: "nginx";
  readonly source: Source;
  readonly directives: readonly Directive[];
  readonly problem: { readonly message: string; readonly at: Place } | undefined;
}

interface Token {
  readonly text: string;
  readonly quoted: boolean;
  readonly start: number;
  readonly end: number;
}

const MAX_DEPTH = 50;

export function readNginx(source: Source): NginxFile {
  const tokens = [...tokenize(source.text)];
  const state = { at: 0, problem: undefined as NginxFile["problem"] };
  const fail = (message: string, token: Token | undefined): void => {
    const at = token ?? { start: source.text.length, end: source.text.length };
    state.problem ??= { message, at: place(source, at.start, at.end) };
  };

  function block(depth: number): Directive[] {
    const found: Directive[] = [];
    let words: Token[] = [];
    while (state.at < tokens.length && state.problem === undefined) {
      const token = tokens[state.at] as Token;
      state.at += 1;
      if (!token.quoted && token.text === "}") {
        if (words.length > 0) {
          fail("A directive ends without ';'.", words[0]);
        } else if (depth === 0) {
          fail("This '}' closes nothing.", token);
        }
        return found;
      }
      if (!token.quoted && (token.text === ";" || token.text === "{")) {
        const [name] = words;
        if (name === undefined) {
          fail(`'${token.text}' without a directive.`, token);
          return found;
        }
        if (depth > MAX_DEPTH) {
          fail("Blocks are nested too deeply.", token);
          return found;
        }
        const at = place(source, name.start, words.at(-1)?.end ?? name.end);
        const args = words.slice(1).map(({ text }) => text);
        const inner = token.text === "{" ? block(depth + 1) : undefined;
        found.push({ name: name.text, args, at, block: inner });
        words = [];
      } else {
        words.push(token);
      }
    }
    if (depth > 0) {
      fail("A block is not closed before the end of the file.", undefined);
    } else if (words.length > 0) {
      fail("The last directive has no ';'.", words[0]);
    }
    return found;
  }

  const directives = block(0);
  return { kind: "nginx", source, directives, problem: state.problem };
}

function* tokenize(text: string): Iterable<Token> {
  let at = 0;
  let lua = false;
  while (at < text.length) {
    const char = text[at] ?? "";
    if (/\s/.test(char)) {
      at += 1;
    } else if (char === "#") {
      const end = text.indexOf("\n", at);
      at = end === -1 ? text.length : end;
    } else if (char === "{" && lua) {
      const end = closingBrace(text, at);
      yield { text: "{", quoted: false, start: at, end: at + 1 };
      yield { text: "}", quoted: false, start: end, end: end + 1 };
      at = end + 1;
      lua = false;
    } else if (char === ";" || char === "{" || char === "}") {
      yield { text: char, quoted: false, start: at, end: at + 1 };
      at += 1;
      lua = false;
    } else if (char === '"' || char === "'") {
      const start = at;
      let value = "";
      at += 1;
      while (at < text.length && text[at] !== char) {
        if (text[at] === "\\" && at + 1 < text.length) {
          at += 1;
        }
        value += text[at] ?? "";
        at += 1;
      }
      at += 1;
      yield { text: value, quoted: true, start, end: Math.min(at, text.length) };
    } else {
      const start = at;
      while (at < text.length && !/[\s;{}]/.test(text[at] ?? "")) {
        // `${name}` belongs to the word.
        if (text[at] === "$" && text[at + 1] === "{") {
          const end = text.indexOf("}", at);
          at = end === -1 ? text.length : end;
        }
        at += text[at] === "\\" ? 2 : 1;
      }
      at = Math.min(at, text.length);
      const word = text.slice(start, at);
      lua ||= word.endsWith("_by_lua_block");
      yield { text: word, quoted: false, start, end: at };
    }
  }
}

function closingBrace(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    depth += text[at] === "{" ? 1 : text[at] === "}" ? -1 : 0;
    if (depth === 0) {
      return at;
    }
  }
  return text.length;
}

/** All directives of a name, at any depth, with the blocks around them (outermost first). */
export function* find(
  directives: readonly Directive[],
  name: string,
  around: readonly Directive[] = [],
): Iterable<{ directive: Directive; around: readonly Directive[] }> {
  for (const directive of directives) {
    if (directive.name === name) {
      yield { directive, around };
    }
    if (directive.block !== undefined) {
      yield* find(directive.block, name, [...around, directive]);
    }
  }
}
