/**
 * Play a match of each ruleset through the types of openapi-typescript and openapi-fetch: `play.js <address>`.
 *
 * `tsc --strict` checks it against the generated types. It fails if the types accept a line marked as an error.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import createClient, { type Client } from "openapi-fetch";

import type { components, paths } from "../build/typescript/knacka.js";
import { ACTS_MAX, DEALS, NEAR_ZERO, PLAYERS, drawn, frames } from "../players.js";

type Schemas = components["schemas"];
type Knacka = Client<paths>;
type EventSeen = Schemas["EventSeen"];

const OPENINGS: Schemas["OpenMatch"][] = [
  { ruleset: "rodskagg-alga", players: PLAYERS, opening: NEAR_ZERO, options: { honour_redeal: false } },
  {
    ruleset: "rodskagg-kortoxen",
    players: PLAYERS,
    enforcement: "penalise",
    opening: NEAR_ZERO,
    options: { deal_ritual: false, exact_zero: false },
  },
  { ruleset: "rodskagg-catsatcards", players: PLAYERS, opening: NEAR_ZERO, options: { fem_opp: false } },
  { ruleset: "rams-english", players: PLAYERS, options: { late_generalrams: true } },
  { ruleset: "kalabrias", players: PLAYERS.slice(0, 2), options: { target_score: 100 } },
];

export const wrong: Schemas["OpenMatch"] = {
  ruleset: "kalabrias",
  players: [],
  // @ts-expect-error: an option of another ruleset
  options: { deal_ritual: false },
};

/** Return the JSON of an answer, which must not be a problem. Some calls can also answer with text. */
function given<T>({ data, error }: { data?: T; error?: unknown }): Exclude<T, string> {
  assert(data !== undefined && typeof data !== "string", JSON.stringify(error));
  return data as Exclude<T, string>;
}

/** Return a token that this opening gives: only a club's match for money gives its seats none. */
function tokenOf(token: string | null | undefined): string {
  if (!token) throw new Error("the opening gave no token");
  return token;
}

function clientOf(address: string, token?: string): Knacka {
  return createClient<paths>({ baseUrl: address, headers: token ? { Authorization: `Bearer ${token}` } : {} });
}

/** Return the card that an event plays, if any. The topic determines the type of an event. */
function cardOf(seen: EventSeen): string | undefined {
  if (seen.event.topic === "card/played") {
    const event: Schemas["CardPlayed"] = seen.event;
    return event.card;
  }
  // @ts-expect-error: not all other events have a card
  seen.event.card;
  return undefined;
}

class Table {
  acts = 0;
  private knocked = false;

  private constructor(
    readonly opening: Schemas["OpenMatch"],
    readonly match: string,
    readonly seats: Knacka[],
    readonly official: Knacka,
    readonly spectator: Knacka,
  ) {}

  static async open(address: string, opening: Schemas["OpenMatch"]): Promise<Table> {
    const spectator = clientOf(address);
    const made = given(await spectator.POST("/v1/matches", { body: opening }));
    const seats = made.seats.map((seat) => clientOf(address, tokenOf(seat.token)));
    if (made.official_token === null) throw new Error("the official has brought no token");
    return new Table(opening, made.id, seats, clientOf(address, made.official_token), spectator);
  }

  get path() {
    return { match: this.match };
  }

  async seen(): Promise<Schemas["MatchSeen"]> {
    return given(await this.official.GET("/v1/matches/{match}", { params: { path: this.path } }));
  }

  /** Make random legal acts until the match is over. */
  async play(): Promise<void> {
    for (let seen = await this.seen(); seen.phase !== "over"; seen = await this.seen()) {
      assert(this.acts < ACTS_MAX, `${seen.ruleset} does not end`);
      if (seen.ruleset === "rams-english" && seen.deal >= DEALS && (await this.close())) continue;
      const [seat] = seen.to_act;
      assert(seat !== undefined);
      await this.act(seat, seen.version);
    }
  }

  private async listed(client: Knacka, seat?: number): Promise<Schemas["Act"][]> {
    const params = { path: this.path, query: seat === undefined ? {} : { seat } };
    return given(await client.GET("/v1/matches/{match}/legal-acts", { params }));
  }

  private async act(seat: number, version: number): Promise<void> {
    const client = this.seats[seat];
    const other = this.seats.at(seat - 1);
    assert(client && other);
    const body = drawn(await this.listed(client, seat));
    const header = { "Idempotency-Key": randomUUID(), "If-Match": `"${version}"` };
    const params = { path: this.path, header };
    if (!this.acts) {
      const { error } = await other.POST("/v1/matches/{match}/acts", { params, body });
      assert.equal(error?.status, 403);
    }
    const done = given(await client.POST("/v1/matches/{match}/acts", { params, body }));
    assert(done.version > version);
    this.acts += 1;
    if (!this.knocked && done.events.some((event) => event.event.topic === "card/played")) {
      this.knocked = true;
      await this.knock();
    }
  }

  /** End the session as the official, which is legal between deals. */
  private async close(): Promise<boolean> {
    const body = (await this.listed(this.official)).find((act) => act.act === "close");
    if (!body) return false;
    given(await this.official.POST("/v1/matches/{match}/acts", { params: { path: this.path }, body }));
    return true;
  }

  /** Knock without a reason, if errors are punished only after a knock. */
  private async knock(): Promise<void> {
    if (this.opening.enforcement !== "penalise") return;
    const body: Schemas["Knock"] = { seat: 0, accused: 1, offence: "revoke" };
    const [client] = this.seats;
    assert(client);
    const knocked = given(await client.POST("/v1/matches/{match}/knocks", { params: { path: this.path }, body }));
    assert.equal(knocked.verdict, "dismissed");
  }

  /** Yield the audit trail, page by page. */
  async *events(): AsyncGenerator<EventSeen> {
    for (let after: number | null = 0; after !== null; ) {
      const params = { path: this.path, query: { after, limit: 20 } };
      const page: Schemas["EventPage"] = given(await this.official.GET("/v1/matches/{match}/events", { params }));
      yield* page.events;
      after = page.next;
    }
  }

  /** Yield the audit trail from the stream. The messages `state` and `end` are not events. */
  async *streamed(): AsyncGenerator<EventSeen> {
    const path = "/v1/matches/{match}/events/stream";
    const { data } = await this.official.GET(path, { params: { path: this.path }, parseAs: "stream" });
    for await (const [topic, text] of frames(data ?? null)) {
      if (topic === "state" || topic === "end") continue;
      const { request, ...event } = JSON.parse(text); // the request of the act, with its first event
      yield event;
    }
  }
}

/** Check that all answers about a finished match agree; return a line about the match. */
async function read(table: Table): Promise<string> {
  const { match, path, spectator } = table;
  const seen = await table.seen();
  const events: EventSeen[] = [];
  for await (const event of table.events()) events.push(event);
  const cards = events.map(cardOf).filter((card) => card !== undefined);
  assert.deepEqual(
    events.map((event) => event.number),
    Array.from({ length: seen.version }, (_, before) => before + 1),
  );
  const streamed: EventSeen[] = [];
  for await (const event of table.streamed()) streamed.push(event);
  const named = (all: EventSeen[]) => all.map(({ number, event }) => [number, event.topic]);
  assert.deepEqual(named(streamed), named(events));
  const query = { min_version: seen.version };
  const protocol = given(await spectator.GET("/v1/matches/{match}/protocol", { params: { path, query } }));
  assert.deepEqual(protocol.points, seen.points);
  assert(protocol.lines.length);
  const { items: cases } = given(await spectator.GET("/v1/matches/{match}/knocks", { params: { path } }));
  for (const one of cases) {
    const params = { path: { match, knock: one.case } };
    assert.deepEqual(given(await spectator.GET("/v1/matches/{match}/knocks/{knock}", { params })), one);
  }
  const at = Math.floor(seen.version / 2);
  const params = { path, query: { at } };
  assert.equal(given(await table.official.GET("/v1/matches/{match}/replay", { params })).version, at);
  const first = { path: { match, deal: 1 } };
  const record = given(await spectator.GET("/v1/matches/{match}/deals/{deal}", { params: first }));
  const played = record.tricks.flatMap((trick) => trick.cards.map((card) => card.card));
  assert.deepEqual(played, cards.slice(0, played.length));
  if (seen.ruleset === "rams-english") {
    const pot = given(await spectator.GET("/v1/matches/{match}/pot", { params: { path, query } }));
    assert.equal(pot.version, seen.version);
  }
  return `${seen.ruleset}: ${table.acts} acts, ${events.length} events, ${cases.length} knocks`;
}

const [, , address] = process.argv;
assert(address);
for (const opening of OPENINGS) {
  const table = await Table.open(address, opening);
  await table.play();
  console.log(`  ${await read(table)}`);
}
