// A request as a developer would write it: for the shell, in Python, in TypeScript.

const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curl(request) {
  const parts = [`curl ${request.streams ? "-N " : ""}${request.method === "GET" ? "" : `-X ${request.method} `}${shell(request.url)}`];
  if (request.token) parts.push('-H "Authorization: Bearer $TOKEN"');
  for (const [name, value] of request.headers) parts.push(`-H ${shell(`${name}: ${value}`)}`);
  if (request.body !== undefined) parts.push(`-d ${shell(JSON.stringify(request.body, null, 2))}`);
  return parts.join(" \\\n  ");
}

// JSON is valid Python except for three words.
function literal(value, indent = "") {
  const deeper = `${indent}    `;
  if (value === null) return "None";
  if (value === true) return "True";
  if (value === false) return "False";
  if (typeof value !== "object") return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? "[]" : "{}";
  const inner = Array.isArray(value)
    ? value.map((item) => literal(item, deeper))
    : Object.entries(value).map(([name, item]) => `${JSON.stringify(name)}: ${literal(item, deeper)}`);
  const flat = `${open}${inner.join(", ")}${close}`;
  if (flat.length + indent.length < 90 && !flat.includes("\n")) return flat;
  return `${open}\n${inner.map((item) => `${deeper}${item},\n`).join("")}${indent}${close}`;
}

function python(request) {
  const headers = request.headers.filter(([name]) => name !== "Content-Type").map(([name, value]) => `${literal(name)}: ${literal(value)}`);
  if (request.token) headers.unshift("\"Authorization\": f\"Bearer {os.environ['TOKEN']}\"");
  const given = [literal(request.url)];
  if (headers.length) given.push(`headers={${headers.join(", ")}}`);
  if (request.body !== undefined) given.push(`json=${literal(request.body, "    ")}`);
  const imports = `${request.token ? "import os\n\n" : ""}import httpx\n\n`;
  const method = request.method.toLowerCase();
  if (request.streams) {
    const all = [literal(request.method), ...given, "timeout=None"].map((part) => `    ${part},\n`).join("");
    return `${imports}with httpx.stream(\n${all}) as answer:\n    for line in answer.iter_lines():\n        print(line)\n`;
  }
  const shown = request.json ? "answer.json()" : "answer.text";
  return `${imports}answer = httpx.${method}(\n${given.map((part) => `    ${part},\n`).join("")})\nanswer.raise_for_status()\nprint(${shown})\n`;
}

function typescript(request) {
  const headers = request.headers.map(([name, value]) => `${JSON.stringify(name)}: ${JSON.stringify(value)}`);
  if (request.token) headers.unshift("Authorization: `Bearer ${process.env.TOKEN}`");
  const given = [];
  if (request.method !== "GET") given.push(`method: ${JSON.stringify(request.method)}`);
  if (headers.length) given.push(`headers: { ${headers.join(", ")} }`);
  if (request.body !== undefined) given.push(`body: JSON.stringify(${JSON.stringify(request.body, null, 2).replaceAll("\n", "\n  ")})`);
  const second = given.length ? `, {\n${given.map((part) => `  ${part},\n`).join("")}}` : "";
  const after = request.streams
    ? "const text = new TextDecoder();\nfor await (const chunk of answer.body ?? []) console.log(text.decode(chunk, { stream: true }));\n"
    : request.json
      ? "console.log(JSON.stringify(await answer.json(), null, 2));\n"
      : "console.log(await answer.text());\n";
  return `const answer = await fetch(${JSON.stringify(request.url)}${second});\nif (!answer.ok) throw new Error(await answer.text());\n${after}`;
}

export const LANGUAGES = { curl, Python: python, TypeScript: typescript };
