/** What the command's exit code says. Decided here and nowhere else. */
export const EXIT: {
  readonly pass: 0;
  readonly failed: 1;
  readonly usage: 2;
  readonly couldNotRun: 3;
  readonly invalidRun: 4;
  readonly interrupted: 130;
} = { pass: 0, failed: 1, usage: 2, couldNotRun: 3, invalidRun: 4, interrupted: 130 };

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];
