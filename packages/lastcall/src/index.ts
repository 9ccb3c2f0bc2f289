export type { LifecycleOptions, ProbePaths } from "./options.ts";
