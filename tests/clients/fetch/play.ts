/**
 * Play a match of each ruleset through the typescript-fetch client of openapi-generator: `play.js <address>`.
 *
 * `tsc --strict` checks it against the generated types. It fails if the types accept a line marked as an error.
 */

import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";

import {
  BooksApi,
  type CardPlayed,
  Configuration,
  type EventSeen,
  EventSeenFromJSON,
  EventsApi,
  KnocksApi,
  type MatchSeen,
  MatchesApi,
  type OpenMatch,
  ProblemFromJSON,
  ResponseError,
} from "../build/fetch/index.js";
import { ACTS_MAX, DEALS, NEAR_ZERO, PLAYERS, drawn, frames } from "../frames.js";

const OPENINGS: OpenMatch[] = [
  { ruleset: "rodskagg-alga", players: PLAYERS, opening: NEAR_ZERO, options: { honourRedeal: false } },
  {
    ruleset: "rodskagg-kortoxen",
    players: PLAYERS,
    enforcement: "penalise",
    opening: NEAR_ZERO,
    options: { dealRitual: false, exactZero: false },
  },
  { ruleset: "rodskagg-catsatcards", players: PLAYERS, opening: NEAR_ZERO, options: { femOpp: false } },
  { ruleset: "rams-english", players: PLAYERS, options: { lateGeneralrams: true } },
  { ruleset: "kalabrias", players: PLAYERS.slice(0, 2), options: { targetScore: 100 } },
];

export const wrong: OpenMatch = {
  ruleset: "kalabrias",
  players: [],
  // @ts-expect-error: an option of another ruleset
  options: { dealRitual: false },
};

/** Return a token that this opening gives: only a club's match for money gives its seats none. */
function tokenOf(token: string | null | undefined): string {
  if (!token) throw new Error("the opening gave no token");
  return token;
}

/** A caller with the token of a seat or an official, or a spectator without a token. */
class Caller {
  readonly books: BooksApi;
  readonly events: EventsApi;
  readonly knocks: KnocksApi;
  readonly matches: MatchesApi;

  constructor(basePath: string, accessToken?: string) {
    const configuration = new Configuration({ basePath, accessToken });
    this.books = new BooksApi(configuration);
    this.events = new EventsApi(configuration);
    this.knocks = new KnocksApi(configuration);
    this.matches = new MatchesApi(configuration);
  }
}

/** Return the card that an event plays, if any. The topic determines the type of an event. */
function cardOf(seen: EventSeen): string | undefined {
  if (seen.event.topic === "card/played") {
    const event: CardPlayed = seen.event;
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
    readonly opening: OpenMatch,
    readonly match: string,
    readonly seats: Caller[],
    readonly official: Caller,
    readonly spectator: Caller,
  ) {}

  static async open(address: string, opening: OpenMatch): Promise<Table> {
    const spectator = new Caller(address);
    const made = await spectator.matches.openMatch({ openMatch: opening });
    const seats = made.seats.map((seat) => new Caller(address, tokenOf(seat.token)));
    if (made.officialToken === null) throw new Error("the official has brought no token");
    return new Table(opening, made.id, seats, new Caller(address, made.officialToken), spectator);
  }

  async seen(): Promise<MatchSeen> {
    return this.official.matches.getMatch({ match: this.match });
  }

  /** Make random legal acts until the match is over. */
  async play(): Promise<void> {
    for (let seen = await this.seen(); seen.phase !== "over"; seen = await this.seen()) {
      assert(this.acts < ACTS_MAX, `${seen.ruleset} does not end`);
      if (seen.ruleset === "rams-english" && seen.deal >= DEALS && (await this.close())) continue;
      const [seat] = seen.toAct;
      assert(seat !== undefined);
      await this.act(seat, seen.version);
    }
  }

  private async act(seat: number, version: number): Promise<void> {
    const { match } = this;
    const [client, other] = [this.seats.at(seat), this.seats.at(seat - 1)];
    assert(client && other);
    const act = drawn(await client.matches.listLegalActs({ match, seat }));
    if (!this.acts) {
      const refused = await other.matches.sendAct({ match, act }).catch((error: unknown) => error);
      assert(refused instanceof ResponseError);
      assert.equal(ProblemFromJSON(await refused.response.json()).status, 403);
    }
    const sent = { match, act, idempotencyKey: randomUUID(), ifMatch: `"${version}"` };
    const done = await client.matches.sendAct(sent);
    assert(done.version > version);
    this.acts += 1;
    if (!this.knocked && done.events.some((event) => event.event.topic === "card/played")) {
      this.knocked = true;
      await this.knock();
    }
  }

  /** End the session as the official, which is legal between deals. */
  private async close(): Promise<boolean> {
    const { match } = this;
    const act = (await this.official.matches.listLegalActs({ match })).find((one) => one.act === "close");
    if (!act) return false;
    await this.official.matches.sendAct({ match, act });
    return true;
  }

  /** Knock without a reason, if errors are punished only after a knock. */
  private async knock(): Promise<void> {
    if (this.opening.enforcement !== "penalise") return;
    const knock = { seat: 0, accused: 1, offence: "revoke" } as const;
    const [client] = this.seats;
    assert(client);
    const knocked = await client.knocks.sendKnock({ match: this.match, knock });
    assert.equal(knocked.verdict, "dismissed");
  }

  /** Yield the audit trail, page by page. */
  async *events(): AsyncGenerator<EventSeen> {
    for (let after: number | null = 0; after !== null; ) {
      const page = await this.official.events.listEvents({ match: this.match, after, limit: 20 });
      yield* page.events;
      after = page.next;
    }
  }

  /** Yield the audit trail from the stream. The messages `state` and `end` are not events. */
  async *streamed(): AsyncGenerator<EventSeen> {
    const { raw } = await this.official.events.streamEventsRaw({ match: this.match });
    for await (const [topic, text] of frames(raw.body)) {
      if (topic !== "state" && topic !== "end") yield EventSeenFromJSON(JSON.parse(text));
    }
  }
}

/** Check that all answers about a finished match agree; return a line about the match. */
async function read(table: Table): Promise<string> {
  const { match, spectator } = table;
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
  assert.deepEqual(streamed, events);
  const protocol = await spectator.books.getProtocol({ match, minVersion: seen.version });
  assert.deepEqual(protocol.points, seen.points);
  assert(protocol.lines.length);
  const cases = await spectator.knocks.listKnocks({ match });
  for (const one of cases) assert.deepEqual(await spectator.knocks.getKnock({ match, _case: one._case }), one);
  const at = Math.floor(seen.version / 2);
  assert.equal((await table.official.events.replayMatch({ match, at })).version, at);
  const record = await spectator.books.getDeal({ match, deal: 1 });
  const played = record.tricks.flatMap((trick) => trick.cards.map((card) => card.card));
  assert.deepEqual(played, cards.slice(0, played.length));
  if (seen.ruleset === "rams-english") {
    const pot = await spectator.books.getPot({ match, minVersion: seen.version });
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
