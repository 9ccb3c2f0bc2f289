// Links a compiled module with everything that it imports by a relative path into one file, so that Node loads one module and
// not seventy: half of what auto mode costs at start. For what tsc writes of this repository: named imports and exports, one
// declaration an export, no cycles, no live bindings; whatever else it meets is an error.
// Usage: node scripts/link.mjs ENTRY OUTPUT, both in the same folder.
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

const IMPORT = /^import\s+(?:([^"]*?)\s+from\s+)?"([^"]+)";?$/gm;
const EXPORT = /^export\s+(async\s+function\*?|function\*?|class|const)\s+(\w+)/gm;

export function link(entry) {
  const folder = path.dirname(entry);
  const names = new Map();
  const builtins = new Map();
  const linked = [];

  function nameOf(file, from) {
    if (from.startsWith(".")) return visit(path.resolve(path.dirname(file), from));
    if (!builtins.has(from)) builtins.set(from, `builtin${builtins.size}`);
    return builtins.get(from);
  }

  function visit(file) {
    if (names.has(file)) return names.get(file);
    const name = `module${names.size}`;
    names.set(file, name);
    const exported = [];
    const text = readFileSync(file, "utf8")
      .replaceAll(/^\/\/# sourceMappingURL=.*$/gm, "")
      .replaceAll(/^export\s*\{\s*\};?$/gm, "")
      .replaceAll(IMPORT, (_, what, from) => {
        const target = nameOf(file, from);
        if (what === undefined) return "";
        const whole = /^\*\s+as\s+(\w+)$/.exec(what)?.[1];
        if (whole !== undefined) return `const ${whole} = ${target};`;
        if (!/^\{[^]*\}$/.test(what)) throw new Error(`${file}: cannot link 'import ${what}'`);
        return `const ${what.replaceAll(/\s+as\s+/g, ": ")} = ${target};`;
      })
      .replaceAll(EXPORT, (_, kind, id) => {
        exported.push(id);
        return `${kind} ${id}`;
      });
    const left = /^(?:export|import)\b(?!\.).*$/m.exec(text)?.[0];
    if (left !== undefined) throw new Error(`${file}: cannot link '${left}'`);
    const result = exported.length === 0 ? "" : `return { ${exported.join(", ")} };\n`;
    linked.push(
      `// ${path.relative(folder, file)}\nconst ${name} = (() => {\n${text.trim()}\n${result}})();\n`,
    );
    return name;
  }

  visit(entry);
  const head = [...builtins].map(([from, name]) => `import * as ${name} from "${from}";`);
  return `${head.join("\n")}\n\n${linked.join("\n")}`;
}

if (process.argv[1] === import.meta.filename) {
  const [entry, output] = process.argv.slice(2).map((file) => path.resolve(file));
  writeFileSync(output, link(entry));
}
