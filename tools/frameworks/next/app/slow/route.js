import { setTimeout as delay } from "node:timers/promises";

export const dynamic = "force-dynamic";

export async function GET() {
  await delay(1500);
  return new Response("slow");
}
