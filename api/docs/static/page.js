// The reference: /openapi.json, the games and the problems as one page, with a search and a form for each call.

import { block, code, definitions, element, inline, nameOf, pretty, prose, Schemas } from "./parts.js";
import { entry, search } from "./search.js";
import { examplesOf, tryIt } from "./tryit.js";

const METHODS = ["get", "post", "put", "patch", "delete"];
const entries = [];

async function read(path, type = "application/json") {
  const answer = await fetch(path, { headers: { Accept: type, "Accept-Language": "en" } });
  if (!answer.ok) throw new Error(`${path} answers ${answer.status}`);
  return type === "application/json" ? answer.json() : answer.text();
}

function fold(id, title, ...parts) {
  return element("details", { id }, element("summary", {}, element("h3", {}, title)), element("div", {}, parts));
}

function contents(content, schemas) {
  return Object.entries(content || {}).map(([type, media]) => element("p", {}, code(type), ": ", schemas.kind(media.schema)));
}

function examples(content, schemas, label) {
  return Object.values(content || {}).flatMap((media) => examplesOf(media, schemas)).map(([name, value]) =>
    element("details", { class: "example" }, element("summary", {}, `Example: ${name}`),
      block(typeof value === "string" ? value : pretty(value), `${label}: ${name}`)));
}

function answers(call, schemas) {
  return definitions(Object.entries(call.responses).map(([status, given]) => {
    const answer = schemas.part(given);
    const headers = Object.keys(answer.headers || {});
    return [code(status), [
      element("p", {}, inline(answer.description)),
      contents(answer.content, schemas),
      headers.length ? element("p", {}, "Headers: ", headers.join(", ")) : null,
      examples(answer.content, schemas, `${call.operationId} ${status}`),
    ]];
  }));
}

function callSection(path, method, call, schemas) {
  const parameters = schemas.parameters(call);
  const body = call.requestBody && schemas.requestBody(call);
  const security = schemas.security(call);
  const open = security.some((one) => !Object.keys(one).length);
  entries.push(entry("call", call.operationId, `${method.toUpperCase()} ${path}: ${call.summary}`,
    [call.description, ...parameters.map((one) => `${one.name} ${one.description}`)].join(" "), call.operationId));
  return fold(call.operationId,
    [element("span", { class: "method" }, method.toUpperCase()), " ", code(path), " ", call.summary],
    prose(call.description),
    element("p", {}, code(call.operationId), security.length
      ? open ? ": with a token as a seat or the official, without one as a spectator." : ": needs a token." : null),
    parameters.length ? [element("h4", {}, "Parameters"), definitions(parameters.map((one) => [
      [code(one.name), ` ${one.in}${one.required ? ", required" : ""} `, element("span", { class: "kind" }, schemas.kind(one.schema))],
      [inline(one.description), one.schema.default === undefined ? null : [" Default: ", code(JSON.stringify(one.schema.default)), "."]],
    ]))] : null,
    body ? [element("h4", {}, "Body"), contents(body.content, schemas)] : null,
    element("h4", {}, "Answers"), answers(call, schemas),
    element("h4", {}, "Code, and try it"), tryIt(path, method, call, schemas));
}

function schemaSection(name, schema, schemas) {
  entries.push(entry("schema", name, "", `${schema.description || ""} ${Object.keys(schemas.properties(schema)).join(" ")}`, `schema-${name}`));
  return fold(`schema-${name}`, code(name), prose(schema.description), schemas.shape(schema),
    (schema.examples || []).map((one) => block(pretty(one), `Example of ${name}`)));
}

// The events of a match: each topic with the shape of its event.
function eventSections(schemas) {
  return schemas.named.Event.oneOf.map((event) => [schemas.properties(event).topic.const, event])
    .sort(([one], [other]) => (one < other ? -1 : 1)).map(([topic, event]) => {
    const said = schemas.resolved(event).description || "";
    entries.push(entry("event", topic, said, Object.keys(schemas.properties(event)).join(" "), `event-${topic}`));
    return fold(`event-${topic}`, code(topic), prose(said),
      nameOf(event) ? element("p", {}, "Its ", code("event"), ": ", schemas.kind(event)) : null, schemas.shape(event));
  });
}

const ruleLinks = (ids) => ids.flatMap((id) => [element("a", { href: `#rule-${id}` }, id), " "]);

function optionRow(ruleset, name, option, schemas) {
  const id = `option-${ruleset}-${name}`;
  entries.push(entry("option", name, ruleset, `${option.description || ""} ${(option["x-rules"] || []).join(" ")}`, id));
  return [
    [code(name), " ", element("span", { class: "kind" }, schemas.kind(option))],
    [
      element("p", {}, inline(option.description)),
      element("p", {}, "Default: ", code(JSON.stringify(option.default)), ". Rules: ", ruleLinks(option["x-rules"] || [])),
      option.properties ? schemas.shape(option) : null,
    ],
    id,
  ];
}

function ruleRow(ruleset, rule) {
  const id = `rule-${rule.id}`;
  entries.push(entry("rule", rule.id, rule.text, ruleset, id));
  return [[element("a", { href: `/v1/rulesets/${ruleset}/rules/${rule.id}` }, rule.id), ` ${rule.kind}`], inline(rule.text), id];
}

function rulesetSection(game, book, schemas) {
  const id = `ruleset-${game.ruleset}`;
  entries.push(entry("game", game.ruleset, game.title, [...game.acts, ...game.offences].join(" "), id));
  const listed = (names) => names.flatMap((name) => [code(name), " "]);
  return fold(id, [code(game.ruleset), " ", game.title],
    element("p", {}, `${game.seats.min} to ${game.seats.max} players, ${game.pack.length} cards, edition ${game.edition}. ${game.source}`),
    element("p", {}, "Acts: ", listed(game.acts)),
    element("p", {}, "Offences: ", listed(game.offences)),
    element("h4", {}, "Options"),
    definitions(Object.entries(game.options.properties).map(([name, option]) => optionRow(game.ruleset, name, option, schemas))),
    element("h4", {}, "Rules"),
    definitions(book.rules.map((rule) => ruleRow(game.ruleset, rule))),
    element("h4", {}, "Readings of points that the rules leave open"),
    definitions(book.readings.map((rule) => ruleRow(game.ruleset, rule))));
}

async function rulesetSections(schemas) {
  const games = await read("/v1/rulesets");
  const books = await Promise.all(games.map((game) => read(`/v1/rulesets/${game.ruleset}/rules`)));
  return games.map((game, place) => rulesetSection(game, books[place], schemas));
}

// The list of problems is a table of Markdown: type, status, title, facts, example.
async function problemRows() {
  const lines = (await read("/problems", "text/markdown")).split("\n");
  return lines.filter((line) => line.startsWith("| [`/problems/")).map((line) => {
    const [type, status, title, facts, said] = line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    const path = /\(([^)]+)\)/.exec(type)[1];
    const name = path.split("/").pop();
    const id = `problem-${name}`;
    entries.push(entry("problem", name, `${status} ${title}`, `${path} ${said}`, id));
    return [[element("a", { href: path }, path), ` ${status} ${title}`], [inline(said), facts ? [" Facts: ", inline(facts), "."] : null], id];
  });
}

function section(id, title, ...parts) {
  return element("section", { "aria-labelledby": id }, element("h2", { id }, title), parts);
}

async function render() {
  const main = document.querySelector("main");
  const description = await read("/openapi.json");
  const schemas = new Schemas(description);
  const [games, problems] = await Promise.all([rulesetSections(schemas), problemRows()]);
  const calls = Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => [path, method, item[method]]));
  const sections = description.tags.map(({ name, description: said }) => {
    const own = calls.filter(([, , call]) => (call.tags || []).includes(name));
    return [name, prose(said), own.map((call) => callSection(...call, schemas))];
  });
  sections.push(
    ["Games", [], games],
    ["Topics", prose("The `event` of each entry in `GET …/events` has a `topic`, which decides its other fields."), eventSections(schemas)],
    ["Problems", prose("Every error is one of these. Each has a page that says what to do."), definitions(problems)],
    ["Schemas", [], Object.entries(schemas.named).map(([name, schema]) => schemaSection(name, schema, schemas))],
  );
  main.replaceChildren(element("div", {},
    element("h1", {}, `${description.info.title} ${description.info.version}`),
    prose(description.info.description),
    element("p", {}, "This page is made from ", element("a", { href: "/openapi.json" }, "openapi.json"),
      ", which clients are generated from, and from the games that the service holds."),
    sections.map(([name, said, parts]) => section(`section-${name}`, name, said, parts))));
  document.querySelector("nav").replaceChildren(element("ul", {}, sections.map(([name, , parts]) =>
    element("li", {}, element("a", { href: `#section-${name}` }, name), parts[0]?.id && calls.some(([, , call]) => call.operationId === parts[0].id)
      ? element("ul", {}, parts.map((part) => element("li", {}, element("a", { href: `#${part.id}` }, part.id)))) : null))));
  search(document.getElementById("search"), entries);
  openTarget();
}

// Opens the target of a link, and all sections that contain it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  for (let around = target; around; around = around.parentElement) if (around.localName === "details") around.open = true;
  target?.scrollIntoView();
}

function themes(select) {
  const show = () => { document.documentElement.dataset.theme = select.value; };
  try {
    select.value = localStorage.getItem("theme") || "system";
  } catch { /* a browser without storage */ }
  select.addEventListener("change", () => {
    show();
    try {
      localStorage.setItem("theme", select.value);
    } catch { /* as above */ }
  });
  show();
}

themes(document.getElementById("theme"));
window.addEventListener("hashchange", openTarget);
render().catch((error) => document.querySelector("main").append(element("p", { role: "alert" }, `That did not work: ${error.message}`)));
