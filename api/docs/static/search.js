// Search in everything that the page shows: guides, calls, schemas, events, options, rules and problems.

import { element } from "./parts.js";

const SHOWN_MAX = 40;

// Rates an entry: it must contain all words, and rates best if its name begins with them or it has them side by side.
function fit(entry, words) {
  const phrase = words.join(" ");
  let score = words.length > 1 && (entry.name.includes(phrase) || entry.title.includes(phrase)) ? 50 : 0;
  for (const word of words) {
    const place = entry.name.indexOf(word);
    if (place === 0) score += entry.name === word ? 100 : 20;
    else if (place > 0) score += 10;
    else if (entry.title.includes(word)) score += 4;
    else if (entry.text.includes(word)) score += 1;
    else return 0;
  }
  return score;
}

export function search(form, entries) {
  const input = form.elements.q;
  const status = form.querySelector("[role=status]");
  const list = form.querySelector("ul");
  const links = () => [...list.querySelectorAll("a")];

  function show() {
    const words = input.value.toLowerCase().split(/[\s_]+/).filter(Boolean);
    const found = words.length
      ? entries.map((entry) => [fit(entry.low, words), entry]).filter(([score]) => score).sort(([one], [other]) => other - one)
      : [];
    list.replaceChildren(...found.slice(0, SHOWN_MAX).map(([, entry]) =>
      element("li", {}, element("a", { href: entry.address },
        element("span", { class: "sort" }, entry.kind), " ", element("b", {}, entry.name), ` ${entry.title}`))));
    list.hidden = !found.length;
    status.textContent = words.length ? `${found.length} found${found.length > SHOWN_MAX ? `, ${SHOWN_MAX} shown` : ""}` : "";
  }

  function close() {
    list.hidden = true;
    status.textContent = "";
  }

  input.addEventListener("input", show);
  input.addEventListener("focus", show);
  list.addEventListener("click", (event) => event.target.closest("a") && close());
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    links()[0]?.click();
  });
  form.addEventListener("keydown", (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Escape") {
      input.focus();
      close();
    } else if (step && !list.hidden) {
      event.preventDefault();
      const all = [input, ...links()];
      all[Math.max(0, Math.min(all.length - 1, all.indexOf(document.activeElement) + step))].focus();
    }
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) {
      event.preventDefault();
      input.focus();
    }
  });
  document.addEventListener("click", (event) => form.contains(event.target) || close());
}

// `place`: the id of a part of this page, or the address of a different page.
export function entry(kind, name, title, text, place) {
  const low = { name: name.toLowerCase().replaceAll("_", " "), title: title.toLowerCase(), text: text.toLowerCase() };
  low.text += ` ${name.toLowerCase()}`;
  return { kind, name, title, address: place.startsWith("/") ? place : `#${place}`, low };
}
