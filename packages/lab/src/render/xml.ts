/** Text in XML, be it a test report or a picture: it may come from anywhere. */

export function xml(text: string): string {
  return (
    text
      // oxlint-disable-next-line no-control-regex -- XML 1.0 has no way to write these characters.
      .replaceAll(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "?")
      .replaceAll("&", "&amp;")
      .replaceAll("<", "&lt;")
      .replaceAll(">", "&gt;")
      .replaceAll('"', "&quot;")
  );
}
