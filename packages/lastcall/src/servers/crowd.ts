/**
 * From so many connections on closing them one by one takes longer than the exit itself, which closes them all: a thousand
 * take 200 ms, ten thousand half a second. More than this many are left to the exit where it comes at once.
 */
export const CROWD: number = 256;
