/** The invisible mark that editors on Windows write at the start of a file, which JSON.parse refuses in words that nobody can see. */

export function withoutMark(text: string): string {
  return text.startsWith("\uFEFF") ? text.slice(1) : text;
}
