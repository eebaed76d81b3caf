"use strict";
// Renders /openapi.json: every call with its parameters, bodies and answers, then every schema.

const METHODS = ["get", "post", "put", "patch", "delete"];

function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) made.setAttribute(key, value);
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

// Text with `code` in it, as paragraphs.
function prose(text) {
  return (text || "").split("\n\n").filter(Boolean).map((paragraph) =>
    element("p", {}, ...inline(paragraph)));
}

function inline(text) {
  return (text || "").split("`").map((part, place) => (place % 2 ? element("code", {}, part) : part));
}

// A schema in a few words; those with a name are links.
function kind(schema) {
  if (!schema) return ["anything"];
  if (schema.$ref) {
    const name = schema.$ref.split("/").pop();
    return [element("a", { href: `#schema-${name}` }, name)];
  }
  if (schema.const !== undefined) return [element("code", {}, JSON.stringify(schema.const))];
  if (schema.enum) return between(schema.enum.map((value) => [element("code", {}, JSON.stringify(value))]), " or ");
  const choices = schema.anyOf || schema.oneOf;
  if (choices) return between(choices.map(kind), " or ");
  if (schema.type === "array") return ["list of ", ...kind(schema.items || (schema.prefixItems && { oneOf: schema.prefixItems }))];
  const limits = [];
  if (schema.minimum !== undefined) limits.push(`from ${schema.minimum}`);
  if (schema.maximum !== undefined) limits.push(`to ${schema.maximum}`);
  if (schema.maxLength !== undefined) limits.push(`at most ${schema.maxLength} characters`);
  if (schema.pattern) limits.push(`like ${schema.pattern}`);
  if (schema.format) limits.push(schema.format);
  return [[].concat(schema.type || "anything").join(" or ") + (limits.length ? ` (${limits.join(" ")})` : "")];
}

function between(lists, word) {
  return lists.flatMap((list, place) => (place ? [word, ...list] : list));
}

function table(head, rows) {
  if (!rows.length) return null;
  return element("table", {},
    element("tr", {}, ...head.map((text) => element("th", {}, text))),
    ...rows.map((cells) => element("tr", {}, ...cells.map((cell) => element("td", {}, ...[].concat(cell))))));
}

function example(media) {
  const shown = Object.entries(media.examples || {});
  return shown.flatMap(([name, { value }]) => [
    element("p", {}, `Example: ${name}`),
    element("pre", {}, JSON.stringify(value, null, 2)),
  ]);
}

function contents(content) {
  return Object.entries(content || {}).flatMap(([type, media], place) =>
    [place ? ", or " : "", element("code", {}, type), ": ", ...kind(media.schema)]);
}

function operation(path, method, call) {
  const parameters = (call.parameters || []).map((one) => [
    element("code", {}, one.name), one.in + (one.required ? ", required" : ""), kind(one.schema), inline(one.description)]);
  const answers = Object.entries(call.responses).map(([status, answer]) => [
    status, inline(answer.description), contents(answer.content)]);
  const body = call.requestBody && Object.values(call.requestBody.content)[0];
  return element("details", { id: call.operationId },
    element("summary", {}, element("b", {}, method.toUpperCase()), element("code", {}, path), ` ${call.summary}`),
    ...prose(call.description),
    call.security ? element("p", {}, call.security.some((one) => !Object.keys(one).length)
      ? "With a token as a seat or the official; without one as a spectator." : "Needs a token.") : null,
    table(["Parameter", "In", "Type", ""], parameters),
    ...(body ? [element("p", {}, "Body: ", ...kind(body.schema)), ...example(body)] : []),
    table(["Answer", "", "Body"], answers));
}

function schemaSection(name, schema) {
  const required = new Set(schema.required || []);
  const fields = Object.entries(schema.properties || {}).map(([field, inner]) => [
    element("code", {}, field), kind(inner), required.has(field) ? "" : "may be left out", inline(inner.description)]);
  return element("details", { id: `schema-${name}` },
    element("summary", {}, element("code", {}, name)),
    ...prose(schema.description),
    table(["Field", "Type", "", ""], fields) || element("p", {}, ...kind(schema)));
}

function render(description) {
  const calls = Object.entries(description.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => [path, method, item[method]]));
  const tags = (description.tags || []).map((tag) => tag.name);
  const page = document.getElementById("reference");
  page.replaceChildren(
    element("h1", {}, `${description.info.title} ${description.info.version}`),
    ...prose(description.info.description),
    element("nav", {}, ...[...tags, "Schemas"].map((tag) => element("a", { href: `#${tag}` }, tag)),
      element("a", { href: "/openapi.json" }, "openapi.json")),
    ...tags.flatMap((tag) => [
      element("h2", { id: tag }, tag),
      ...calls.filter(([, , call]) => (call.tags || []).includes(tag)).map((call) => operation(...call))]),
    element("h2", { id: "Schemas" }, "Schemas"),
    ...Object.entries(description.components.schemas).map(([name, schema]) => schemaSection(name, schema)));
  openTarget();
}

// A link to a call or a schema opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
  }
}

window.addEventListener("hashchange", openTarget);
fetch("/openapi.json").then((answer) => answer.json()).then(render).catch((error) => {
  document.getElementById("reference").append(element("p", {}, `That did not work: ${error}`));
});
