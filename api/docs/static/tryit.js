// A form for each call: it shows the request as code, sends it to the service of this page, and shows the answer. A
// token is pasted once for all forms, and is stored only in them.

import { LANGUAGES } from "./code.js";
import { block, code, element, inline, nameOf, pretty } from "./parts.js";

const chosen = { language: "curl" };
const HEADERS_SHOWN = ["content-type", "etag", "location", "link", "retry-after", "content-language", "idempotency-replayed"];

function takesToken(call, schemas) {
  return schemas.security(call).some((one) => Object.keys(one).length);
}

function fill(selector, value) {
  for (const input of document.querySelectorAll(selector)) {
    input.value = value;
    input.form.dispatchEvent(new Event("changed"));
  }
}

function exampleOf(parameter) {
  const [first] = Object.values(parameter.examples || {});
  return parameter.example ?? first?.value ?? parameter.schema?.examples?.[0] ?? "";
}

// The examples of a body by their names.
export function examplesOf(media, schemas) {
  if (media.examples) {
    return Object.entries(media.examples).map(([name, one]) => [one.summary || name, schemas.part(one).value]);
  }
  const only = media.example ?? schemas.resolved(media.schema).examples?.[0] ?? schemas.resolved(media.schema).example;
  return only === undefined ? [] : [["example", only]];
}

function field(id, label, input, said) {
  input.id = id;
  return element("div", { class: "field" }, element("label", { for: id }, label), input, said ? element("small", {}, said) : null);
}

function parameterField(operation, parameter, schemas) {
  const schema = schemas.resolved(parameter.schema);
  const choices = schema.enum || (schema.type === "boolean" ? [true, false] : null);
  const attributes = { name: parameter.name, "data-in": parameter.in, "data-parameter": parameter.name };
  const input = choices
    ? element("select", attributes, element("option", { value: "" }, ""), choices.map((one) => element("option", {}, String(one))))
    : element("input", { ...attributes, type: "text", autocomplete: "off", spellcheck: "false", required: parameter.required });
  if (parameter.in === "path" && !choices && parameter.name !== "match") input.value = exampleOf(parameter);
  return field(`${operation}-${parameter.name}`, [code(parameter.name), ` ${parameter.in}`, parameter.required ? ", required" : ""],
    input, inline(parameter.description));
}

// Returns the request of a form. Throws if the body is no JSON.
function requestOf(form, path, method) {
  const query = new URLSearchParams();
  const headers = [];
  let filled = path;
  for (const input of form.querySelectorAll("[data-in]")) {
    if (input.dataset.in === "path") {
      filled = filled.replace(`{${input.name}}`, input.value ? encodeURIComponent(input.value) : `{${input.name}}`);
    } else if (input.value && input.dataset.in === "query") query.append(input.name, input.value);
    else if (input.value && input.dataset.in === "header") headers.push([input.name, input.value]);
  }
  const accept = form.elements.accept?.value || form.dataset.accept;
  if (accept && accept !== "application/json") headers.push(["Accept", accept]);
  const text = form.elements.body?.value;
  if (text !== undefined) headers.push(["Content-Type", "application/json"]);
  return {
    method: method.toUpperCase(),
    url: `${location.origin}${filled}${query.size ? `?${query}` : ""}`,
    headers,
    token: form.elements.token?.value,
    body: text === undefined ? undefined : JSON.parse(text),
    json: !accept || accept === "application/json",
    streams: accept === "text/event-stream",
  };
}

// Each language has a button; a choice applies to the whole page.
function codeBlock(form, path, method) {
  const shown = block("", "Code", { class: "code" });
  const buttons = Object.keys(LANGUAGES).map((language) => {
    const button = element("button", { type: "button", "data-language": language }, language);
    button.addEventListener("click", () => {
      chosen.language = language;
      document.dispatchEvent(new Event("language"));
    });
    return button;
  });
  const copy = element("button", { type: "button", class: "copy" }, "Copy");
  copy.hidden = !navigator.clipboard;
  copy.addEventListener("click", () => navigator.clipboard.writeText(shown.textContent).then(() => { copy.textContent = "Copied"; }));
  const show = () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.language === chosen.language));
    copy.textContent = "Copy";
    try {
      shown.firstChild.textContent = LANGUAGES[chosen.language](requestOf(form, path, method));
      form.elements.body?.removeAttribute("aria-invalid");
    } catch {
      form.elements.body.setAttribute("aria-invalid", "true");
    }
  };
  form.addEventListener("input", show);
  form.addEventListener("changed", show);
  document.addEventListener("language", show);
  show();
  return element("div", {}, element("div", { class: "buttons", role: "group", "aria-label": "Language of the code" }, buttons, copy), shown);
}

// Buttons that put a token of the match just opened into all forms.
function tokensOf(body) {
  if (!body?.official_token) return null;
  const tokens = [...body.seats.map((seat) => [`seat ${seat.seat}, ${seat.name}`, seat.token]), ["the official", body.official_token]];
  return element("p", { class: "buttons" }, "Continue as ", tokens.map(([who, token]) => {
    const button = element("button", { type: "button" }, who);
    button.addEventListener("click", () => fill("input[name=token]", token));
    return button;
  }));
}

async function send(form, path, method, answerPart, abort) {
  const status = element("p", { role: "status" });
  answerPart.replaceChildren(status);
  let request;
  try {
    request = requestOf(form, path, method);
  } catch (error) {
    status.textContent = `The body is no JSON: ${error.message}`;
    return;
  }
  const headers = new Headers(request.headers);
  if (request.token) headers.set("Authorization", `Bearer ${request.token}`);
  status.textContent = "Sent …";
  try {
    const answer = await fetch(request.url, {
      method: request.method,
      headers,
      body: request.body === undefined ? undefined : JSON.stringify(request.body),
      signal: abort.signal,
      credentials: "omit",
      cache: "no-store",
    });
    status.textContent = `${answer.status} ${answer.statusText}`;
    const headerLines = HEADERS_SHOWN.filter((name) => answer.headers.has(name)).map((name) => `${name}: ${answer.headers.get(name)}`);
    const shown = block("", "Answer", { class: "answer" });
    answerPart.append(block(headerLines.join("\n"), "Headers of the answer"), shown);
    const type = answer.headers.get("content-type") || "";
    if (type.startsWith("text/event-stream")) {
      const stop = element("button", { type: "button" }, "Stop");
      stop.addEventListener("click", () => abort.abort());
      status.after(stop);
      const text = new TextDecoder();
      const reader = answer.body.getReader();
      for (let part = await reader.read(); !part.done; part = await reader.read()) {
        shown.firstChild.append(text.decode(part.value, { stream: true }));
      }
      stop.remove();
      return;
    }
    const text = await answer.text();
    if (!/json$/.test(type.split(";")[0]) || !text) {
      shown.firstChild.textContent = text;
      return;
    }
    const body = JSON.parse(text);
    shown.firstChild.textContent = pretty(body);
    const tokens = tokensOf(body);
    if (tokens) {
      fill("input[data-parameter=match]", body.id);
      shown.before(tokens);
    }
  } catch (error) {
    status.append(abort.signal.aborted ? " Stopped." : ` Failed: ${error.message}`);
  }
}

// The form with which a call can be tried.
export function tryIt(path, method, call, schemas) {
  const name = call.operationId;
  const body = call.requestBody && schemas.requestBody(call).content["application/json"];
  const types = schemas.answerTypes(call);
  const form = element("form", { class: "try", "aria-label": `Try ${call.summary}`, "data-accept": types[0] });
  const fields = element("div", {});
  if (takesToken(call, schemas)) {
    const input = element("input", { name: "token", type: "text", autocomplete: "off", spellcheck: "false" });
    input.addEventListener("input", () => fill("input[name=token]", input.value));
    fields.append(field(`${name}-token`, "Token", input, "From the answer that opened the match. It is stored only in this page."));
  }
  fields.append(...schemas.parameters(call).map((parameter) => parameterField(name, parameter, schemas)));
  if (types.length > 1) {
    fields.append(field(`${name}-accept`, "Accept", element("select", { name: "accept" }, types.map((type) => element("option", {}, type)))));
  }
  if (body) {
    const examples = examplesOf(body, schemas);
    const text = element("textarea", { name: "body", rows: "8", spellcheck: "false" });
    text.value = examples.length ? pretty(examples[0][1]) : "{}";
    if (examples.length > 1) {
      const select = element("select", {}, examples.map(([label], place) => element("option", { value: place }, label)));
      select.addEventListener("change", () => {
        text.value = pretty(examples[select.value][1]);
        form.dispatchEvent(new Event("changed"));
      });
      fields.append(field(`${name}-example`, "Example", select));
    }
    fields.append(field(`${name}-body`, ["Body: ", nameOf(body.schema) || "JSON"], text));
  }
  const answerPart = element("div", {});
  let abort = new AbortController();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    abort.abort();
    abort = new AbortController();
    send(form, path, method, answerPart, abort);
  });
  fields.append(element("button", { type: "submit", class: "send" }, "Send"), answerPart);
  const fold = element("details", { class: "fields" }, element("summary", {}, "Try it"), fields);
  // The fields first, because the code is made from them.
  form.append(fold);
  fold.before(codeBlock(form, path, method));
  return form;
}
