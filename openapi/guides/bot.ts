// Play one seat at random: node bot.js http://127.0.0.1:8000 MATCH SEAT TOKEN
import { randomUUID } from "node:crypto";
import { setTimeout } from "node:timers/promises";
import createClient from "openapi-fetch";
import type { components, paths } from "./knacka.js"; // npx openapi-typescript openapi.json -o knacka.d.ts
type State = components["schemas"]["StateSeen"];

const [base, match, seat, token] = process.argv.slice(2) as [string, string, string, string];
const headers = { Authorization: `Bearer ${token}` };
const client = createClient<paths>({ baseUrl: base, headers });
const path = { match };
const busy = (answer: Response): boolean => answer.status === 429 || answer.status === 503;
const wait = (answer: Response): Promise<void> => setTimeout(1000 * Number(answer.headers.get("Retry-After") ?? 1));

/** Yield each state of the match until it is over. Connect again if the stream breaks. */
async function* states(): AsyncGenerator<State> {
  for (let last = "0"; ; ) {
    const url = `${base}/v1/matches/${match}/events/stream`;
    const late = new AbortController(); // fetch may not notice a connection that breaks before an answer
    const timer = globalThis.setTimeout(() => late.abort(), 10_000);
    try {
      const sent = { headers: { ...headers, "Last-Event-ID": last }, signal: late.signal };
      const answer = await fetch(url, sent).finally(() => clearTimeout(timer));
      if (answer.status === 204 || answer.body === null) return;
      if (busy(answer)) await wait(answer);
      else if (!answer.ok) throw new Error(await answer.text());
      let rest = "";
      for await (const piece of answer.body.pipeThrough(new TextDecoderStream())) {
        const messages = (rest + piece).split("\n\n");
        rest = messages.pop() ?? "";
        for (const message of messages) {
          const fields = new Map(message.split("\n").map((line) => line.split(/: (.*)/, 2) as [string, string]));
          last = fields.get("id") ?? last;
          const data = JSON.parse(fields.get("data") ?? "{}") as { topic?: string };
          if (data.topic === "state") yield data as State;
        }
      }
    } catch (error) {
      if (!(error instanceof TypeError) && !late.signal.aborted) throw error; // TypeError: the connection broke
      await setTimeout(1000);
    }
  }
}

for await (const state of states()) {
  if (!state.to_act.includes(Number(seat))) continue;
  const legal = await client.GET("/v1/matches/{match}/legal-acts", {
    params: { path, query: { min_version: state.version } },
  });
  if (legal.data === undefined) throw new Error(JSON.stringify(legal.error));
  const act = legal.data[Math.floor(Math.random() * legal.data.length)];
  if (act === undefined) continue; // a different act came first
  const header = { "Idempotency-Key": randomUUID(), "If-Match": `"${state.version}"` };
  for (;;) {
    const done = await client.POST("/v1/matches/{match}/acts", { params: { path, header }, body: act });
    if (done.response.ok || done.response.status === 412) break; // 412: the state has changed; the next one follows
    if (!busy(done.response)) throw new Error(JSON.stringify(done.error));
    await wait(done.response); // with the same key the act is done only once
  }
}
