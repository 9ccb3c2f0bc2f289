/** A request's line in the ledger, as the writer makes it and the reader knows it: what stands between the values, in this order. */

export const bytesOf = (letters: string): Uint8Array => Buffer.from(letters, "latin1");

export const ID: Uint8Array = bytesOf('{"kind":"request","id":');
export const METHOD: Uint8Array = bytesOf(',"method":');
export const PATH: Uint8Array = bytesOf(',"path":');
export const INTENDED: Uint8Array = bytesOf(',"intendedMs":');
export const DISPATCHED: Uint8Array = bytesOf(',"dispatchedMs":');
export const CONNECTED: Uint8Array = bytesOf(',"connectedMs":');
export const WRITTEN: Uint8Array = bytesOf(',"writtenMs":');
export const FIRST_BYTE: Uint8Array = bytesOf(',"firstByteMs":');
export const ENDED: Uint8Array = bytesOf(',"endedMs":');
export const FATE: Uint8Array = bytesOf(',"fate":');
export const STATUS: Uint8Array = bytesOf(',"status":');
export const STAGE: Uint8Array = bytesOf(',"stage":');
export const ERROR: Uint8Array = bytesOf(',"error":');
export const CONNECTION: Uint8Array = bytesOf(',"connection":{"id":');
export const REUSE: Uint8Array = bytesOf(',"reuse":');
export const AGE: Uint8Array = bytesOf(',"ageMs":');
export const CLOSED_FIRST: Uint8Array = bytesOf(',"closedFirst":');
export const BYTES: Uint8Array = bytesOf('},"bytes":{"promised":');
export const GOT: Uint8Array = bytesOf(',"got":');
export const COPY: Uint8Array = bytesOf('},"copy":');
export const UPSTREAM: Uint8Array = bytesOf(',"upstream":');

export const QUOTE = 0x22;
export const BACKSLASH = 0x5c;
export const DOT = 0x2e;
export const ZERO = 0x30;
