export const pending: string = "replaced by the first real one";
