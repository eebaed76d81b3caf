/** Functions that both players in TypeScript share, independent of a generator. */

import assert from "node:assert/strict";

/** Upper limit of acts in a match. A match of random acts takes about fifty from these openings. */
export const ACTS_MAX = 2000;
/** Deals after which the official closes a session of Rams, which has no end otherwise. */
export const DEALS = 3;
export const PLAYERS = [{ name: "Anna" }, { name: "Bo" }, { name: "Cecilia" }];
export const NEAR_ZERO = { points: [3, 3, 3] };

/** Return a random element. */
export function drawn<T>(all: readonly T[]): T {
  const one = all[Math.floor(Math.random() * all.length)];
  assert(one !== undefined, "nothing is listed");
  return one;
}

/** Yield the topic and the data of each message of a stream of server-sent events. */
export async function* frames(stream: ReadableStream<Uint8Array> | null): AsyncGenerator<[string, string]> {
  assert(stream);
  const decoder = new TextDecoder();
  let rest = "";
  for await (const piece of stream) {
    const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (line.startsWith("data: ")) yield [JSON.parse(line.slice(6)).topic, line.slice(6)];
    }
  }
}
