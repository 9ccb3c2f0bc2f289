/** The version of this copy of the library; a test keeps it equal to package.json's. */
export const VERSION: string = "0.0.0";
