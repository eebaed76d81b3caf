/**
 * Open a match through the client that orval generates, play a deal with a knock, follow the match meanwhile until the
 * deal is scored, and read the protocol: `play.js <address>`.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import axios from "axios";

import {
  type ActDone,
  type EventSeen,
  type Problem,
  getMatch,
  getProtocol,
  listEvents,
  listLegalActs,
  openMatch,
  sendAct,
  sendKnock,
} from "../build/orval/knacka.js";
import { ACTS_MAX, PLAYERS, drawn } from "../players.js";

const [, , address] = process.argv;
axios.defaults.baseURL = address;

/** Return the headers of a caller with a token. */
function by(token: string, more: Record<string, string> = {}) {
  return { headers: { Authorization: `Bearer ${token}`, ...more } };
}

/** Return the JSON of an answer that can also be text. */
function json<T>({ data }: { data: T }): Exclude<T, string> {
  assert(typeof data !== "string");
  return data as Exclude<T, string>;
}

/** Return the numbers of the events that play a card. */
function cardsOf(events: EventSeen[]): number[] {
  return events.filter((event) => event.event.topic === "card/played").map((event) => event.number);
}

function isScored(events: EventSeen[]): boolean {
  return events.some((event) => event.event.topic === "deal/scored");
}

const { data: made } = await openMatch({
  ruleset: "rodskagg-kortoxen",
  players: PLAYERS,
  enforcement: "penalise",
  options: { deal_ritual: false },
});
const match = made.id;
const tokens = made.seats.map(({ token }) => token ?? assert.fail("only a club's match gives its seats no tokens"));

/** Wait for events until the deal is scored. Return those that play a card. */
async function follow(): Promise<number[]> {
  const events: EventSeen[] = [];
  while (!isScored(events)) {
    events.push(...json(await listEvents(match, { after: events.length, wait: 25 })).events);
  }
  return cardsOf(events);
}

/** Make a random legal act of a seat, first with a wrong token. */
async function act(seat: number, version: number): Promise<ActDone> {
  const [token, other] = [tokens.at(seat), tokens.at(seat - 1)];
  assert(token && other);
  const one = drawn((await listLegalActs(match, { seat }, by(token))).data);
  const refused: unknown = await sendAct(match, one, by(other)).catch((error: unknown) => error);
  assert(axios.isAxiosError<Problem>(refused));
  assert.equal(refused.response?.data.type, "/problems/not-your-seat");
  return (await sendAct(match, one, by(token, { "Idempotency-Key": randomUUID(), "If-Match": `"${version}"` }))).data;
}

/** Make acts until the deal is scored. Knock after the first card, against a player who did nothing wrong. */
async function play(): Promise<[acts: number, cards: number[]]> {
  const cards: number[] = [];
  for (let acts = 1; acts < ACTS_MAX; acts += 1) {
    const { data: seen } = await getMatch(match);
    const [seat] = seen.to_act;
    assert(seat !== undefined);
    const { events } = await act(seat, seen.version);
    const isFirst = !cards.length;
    cards.push(...cardsOf(events));
    if (isFirst && cards.length) {
      const { data: knocked } = await sendKnock(match, { seat: 0, accused: 1, offence: "revoke" }, by(tokens[0] ?? ""));
      assert.equal(knocked.verdict, "dismissed");
    }
    if (isScored(events)) return [acts, cards];
  }
  throw new Error("the deal does not end");
}

const followed = follow();
const [acts, cards] = await play();
assert.deepEqual(await followed, cards);
assert.deepEqual(
  json(await getProtocol(match)).lines.map((line) => line.deal),
  [1],
);
console.log(`  rodskagg-kortoxen: ${acts} acts, ${cards.length} cards, 1 knock`);
