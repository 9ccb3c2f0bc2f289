/** A promise that is settled from outside, at most once, and that nobody is obliged to await. */

export interface Deferred {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: Error) => void;
}

export function deferred(): Deferred {
  const settle: { resolve?: () => void; reject?: (error: Error) => void } = {};
  const promise = new Promise<void>((resolve, reject) => {
    settle.resolve = resolve;
    settle.reject = reject;
  });
  // Whoever awaits it gets the error; without this, a promise that nobody awaits would end the process.
  promise.catch(() => {});
  return {
    promise,
    resolve: () => settle.resolve?.(),
    reject: (error) => settle.reject?.(error),
  };
}
