// The building blocks of the page: elements, sentences, and schemas in words.

export function element(name, attributes, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes || {})) {
    if (value === true) made.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(key, value);
  }
  made.append(...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

export const code = (text) => element("code", {}, text);

// Paragraphs, and lists whose lines begin with a hyphen.
export function prose(text) {
  return (text || "").split(/\n{2,}/).filter((part) => part.trim()).map((part) => {
    const lines = part.trim().split("\n");
    return lines.every((line) => /^[-*] /.test(line))
      ? element("ul", {}, lines.map((line) => element("li", {}, inline(line.slice(2)))))
      : element("p", {}, inline(part));
  });
}

// Text with `code`, **stress** and [links](of this service) in it.
export function inline(text) {
  return (text || "").split(/(`[^`]+`|\*\*[^*]+\*\*|\[[^\]]+\]\([^)\s]+\))/).map((part) => {
    if (/^`.+`$/s.test(part)) return code(part.slice(1, -1));
    if (/^\*\*.+\*\*$/s.test(part)) return element("strong", {}, part.slice(2, -2));
    const link = /^\[(.+)\]\((\S+)\)$/s.exec(part);
    return link ? element("a", { href: link[2] }, link[1]) : part;
  });
}

export function between(parts, word) {
  return parts.flatMap((part, place) => (place ? [word, part] : [part]));
}

// A sign beside a heading that links to it.
export function anchor(id, name) {
  return element("a", { class: "anchor", href: `#${id}`, "aria-label": `Link to ${name}` }, "#");
}

// A block that can be scrolled sideways, also by keyboard.
export function block(text, label, attributes) {
  return element("pre", { tabindex: "0", role: "group", "aria-label": label, ...attributes }, code(text));
}

export const pretty = (value) => JSON.stringify(value, null, 2);

export const nameOf = (schema) => schema?.$ref?.split("/").pop();

// The schemas of one description.
export class Schemas {
  constructor(description) {
    this.description = description;
    this.named = description.components.schemas;
  }

  // Returns a schema itself instead of a reference to it.
  resolved(schema) {
    let found = schema || {};
    while (found.$ref) found = this.named[nameOf(found)];
    return found;
  }

  // Returns a parameter, body, answer or example itself instead of a reference to it.
  part(given) {
    return given.$ref ? given.$ref.slice(2).split("/").reduce((found, name) => found[name], this.description) : given;
  }

  parameters(call) {
    return (call.parameters || []).map((one) => this.part(one));
  }

  // The credentials of a call; by default those of the whole description.
  security(call) {
    return call.security || this.description.security || [];
  }

  requestBody(call) {
    return this.part(call.requestBody);
  }

  // The media types of a call's successful answer, JSON first.
  answerTypes(call) {
    const [, good] = Object.entries(call.responses).find(([status]) => status.startsWith("2"));
    const types = Object.keys(this.part(good).content || {});
    return types.sort((one, other) => (other === "application/json") - (one === "application/json"));
  }

  // The properties of an object, including those of its parts (allOf).
  properties(schema) {
    const found = this.resolved(schema);
    return Object.assign({}, ...(found.allOf || []).map((part) => this.properties(part)), found.properties);
  }

  required(schema) {
    const found = this.resolved(schema);
    return [...(found.required || []), ...(found.allOf || []).flatMap((part) => this.required(part))];
  }

  // A schema in a few words; those with a name are links.
  kind(schema) {
    if (!schema || schema === true) return ["anything"];
    if (schema.$ref) return [element("a", { href: `#schema-${nameOf(schema)}` }, nameOf(schema))];
    if (schema.const !== undefined) return [code(JSON.stringify(schema.const))];
    if (schema.enum) return between(schema.enum.map((value) => code(JSON.stringify(value))), " or ");
    const choices = schema.anyOf || schema.oneOf;
    if (choices) return between(choices.map((choice) => this.kind(choice)), " or ");
    if (schema.allOf?.length === 1) return this.kind(schema.allOf[0]);
    const types = [schema.type || "anything"].flat();
    if (types.includes("array")) {
      const inner = schema.prefixItems
        ? ["list of exactly ", between(schema.prefixItems.map((item) => this.kind(item)), ", ")]
        : ["list of ", this.kind(schema.items)];
      return [inner, limits([[schema.minItems, "at least"], [schema.maxItems, "at most"]]), types.includes("null") ? " or null" : null];
    }
    if (schema.type === "object" && schema.additionalProperties && !schema.properties) {
      return ["object whose values are ", this.kind(schema.additionalProperties)];
    }
    return [types.join(" or "), limits([
      [schema.format, "as"],
      [schema.minimum, "from"],
      [schema.maximum, "to"],
      [schema.minLength, "at least"],
      [schema.maxLength, "at most", "characters"],
    ]), schema.pattern ? [" like ", code(schema.pattern)] : null];
  }

  // The object that a field holds, itself, in a list, or beside null: only if it has fields and no alternatives.
  held(schema) {
    const choices = (schema.anyOf || schema.oneOf || [schema]).filter((one) => one.type !== "null");
    if (choices.length !== 1) return null;
    const found = this.resolved(choices[0]);
    if (found.type === "array" && found.items) return this.held(found.items);
    return found.oneOf || found.anyOf || !Object.keys(this.properties(found)).length ? null : found;
  }

  // The fields of a body where it is described: with the fields of the objects in it, and of each alternative.
  fields(schema, depth = 2) {
    const found = this.resolved(schema);
    const choices = (found.oneOf || found.anyOf || []).filter((one) => one.type !== "null");
    if (choices.length && depth > 1) {
      const by = found.discriminator?.propertyName;
      return definitions(choices.map((choice) => {
        const value = this.properties(choice)[by]?.const ?? this.properties(choice)[by]?.enum?.[0];
        const { [by]: _, ...others } = this.properties(choice);
        return [
          value === undefined ? this.kind(choice) : [code(`"${by}": ${JSON.stringify(value)}`)],
          [inline(this.resolved(choice).description), this.rows(others, new Set(this.required(choice)), depth - 1)],
        ];
      }));
    }
    const own = this.properties(found);
    return Object.keys(own).length ? this.rows(own, new Set(this.required(found)), depth) : element("p", {}, this.kind(found));
  }

  rows(properties, required, depth) {
    return definitions(Object.entries(properties).map(([name, inner]) => {
      const object = depth > 0 ? this.held(inner) : null;
      return [
        [code(name), " ", element("span", { class: "kind" }, this.kind(inner)), required.has(name) ? null : " optional"],
        [
          inline(inner.description || this.resolved(inner).description),
          inner.default === undefined ? null : [" Default: ", code(JSON.stringify(inner.default)), "."],
          object ? this.rows(this.properties(object), new Set(this.required(object)), depth - 1) : null,
        ],
      ];
    }));
  }

  // The fields of an object with type, description and default; for a union, its alternatives.
  shape(schema) {
    const found = this.resolved(schema);
    const choices = found.oneOf || found.anyOf;
    const fields = Object.entries(this.properties(found));
    const required = new Set(this.required(found));
    const parts = [];
    if (fields.length) {
      parts.push(definitions(fields.map(([name, inner]) => [
        [code(name), " ", element("span", { class: "kind" }, this.kind(inner)), required.has(name) ? null : " optional"],
        [
          inline(this.resolved(inner).description && !inner.description ? this.resolved(inner).description : inner.description),
          inner.default === undefined ? null : [" Default: ", code(JSON.stringify(inner.default)), "."],
        ],
      ])));
    }
    if (choices) {
      const by = found.discriminator?.propertyName;
      parts.push(
        element("p", {}, "One of these", by ? [", which differ in ", code(by)] : null, ":"),
        element("ul", {}, choices.map((choice) => {
          const told = this.properties(choice)[by || "topic"];
          const value = told?.const ?? told?.enum?.[0];
          return element("li", {}, value === undefined ? null : [code(value), ": "],
            choice.$ref || !choice.properties ? this.kind(choice) : this.kind(choice.properties.event || choice));
        })),
      );
    }
    if (!parts.length) parts.push(element("p", {}, this.kind(found)));
    return parts;
  }
}

function limits(given) {
  const said = given.filter(([value]) => value !== undefined).map(([value, word, unit]) => `${word} ${value}${unit ? ` ${unit}` : ""}`);
  return said.length ? ` (${said.join(", ")})` : null;
}

// A list of names with their descriptions. It is no wider than its longest word.
export function definitions(rows) {
  return element("dl", {}, rows.map(([name, said, id]) =>
    element("div", { id }, element("dt", {}, name), element("dd", {}, said))));
}
