/** The platforms in whose words advice can be given. */

export const PLATFORMS = ["kubernetes", "compose", "systemd", "pm2", "plain"] as const;
export type Platform = (typeof PLATFORMS)[number];
