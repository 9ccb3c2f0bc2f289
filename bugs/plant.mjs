// How a planted bug gets into a source text.

/** Whatever has become of the spaces and line breaks, the text must be there, once; else null. */
export function plant(source, find, replace) {
  const pattern = find
    .trim()
    .split(/\s+/)
    .map((word) => word.replaceAll(/[$()*+.?[\\\]^{|}]/g, "\\$&"))
    .join("\\s+");
  const found = [...source.matchAll(new RegExp(pattern, "g"))];
  if (found.length !== 1) {
    return null;
  }
  const [{ index, 0: text }] = found;
  return source.slice(0, index) + replace.trim() + source.slice(index + text.length);
}
