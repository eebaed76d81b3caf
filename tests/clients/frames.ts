/** What both players in TypeScript need of no generator. */

import assert from "node:assert/strict";

/** A match of random acts takes some fifty from the openings here. */
export const ACTS_MAX = 2000;
/** After so many deals the official closes a session of Rams, which knows no end of its own. */
export const DEALS = 3;
export const PLAYERS = [{ name: "Anna" }, { name: "Bo" }, { name: "Cecilia" }];
export const NEAR_ZERO = { points: [3, 3, 3] };

/** One of these, by chance. */
export function drawn<T>(all: readonly T[]): T {
  const one = all[Math.floor(Math.random() * all.length)];
  assert(one !== undefined, "nothing is listed");
  return one;
}

/** The frames of a stream of server-sent events: the name of each and its data. */
export async function* frames(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<[string, string]> {
  assert(stream);
  const decoder = new TextDecoder();
  let [rest, event] = ["", ""];
  for await (const piece of stream) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("event: ")) event = line.slice(7);
      if (line.startsWith("data: ")) yield [event, line.slice(6)];
    }
  }
}
