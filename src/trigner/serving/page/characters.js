/* Characters as the service counts them: Unicode code points, where JavaScript counts UTF-16 units. */

/* A text that can be sent: a lone surrogate becomes U+FFFD, which has the same length. */
export function wellFormed(text) {
  return text.replace(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, "\ufffd");
}

/* A text as a text area shows it. */
export function shown(text) {
  return text.replace(/\r\n?/g, "\n");
}

/* Code points of `text` before the UTF-16 offset `unit` in what a text area shows of it. */
export function codePointAt(text, unit) {
  let points = 0;
  let units = 0;
  for (let at = 0; at < text.length && units < unit; points += 1) {
    const size = text.codePointAt(at) > 0xffff ? 2 : 1;
    const skipped = text[at] === "\r" && text[at + 1] === "\n";
    units += skipped ? 0 : size;
    at += size;
  }
  return points;
}

/* What an entity has besides its place: qualifiers, code, candidates. */
function fieldsOf({ label, fragments, text, score, ...fields }) {
  return fields;
}

/* Lines of a brat .ann file; fragments are split at line breaks, as brat requires. Fields are
   attributes, or notes where brat has no attribute for them, as `trigner extract` writes them. */
export function asBrat(text, entities) {
  const points = Array.from(text);
  const lines = entities.map((entity, index) => {
    const fragments = entity.fragments.flatMap((fragment) => linesOf(points, fragment));
    const offsets = fragments.map(([start, end]) => `${start} ${end}`).join(";");
    const surface = fragments.map(([start, end]) => points.slice(start, end).join("")).join(" ");
    const label = entity.label.replace(/\s+/gu, "_");
    return `T${index + 1}\t${label} ${offsets}\t${surface.replace(/[\t\r\n]/g, " ")}`;
  });
  let [attributes, notes] = [0, 0];
  for (const [index, entity] of entities.entries()) {
    const rest = {};
    for (const [name, value] of Object.entries(fieldsOf(entity))) {
      const isWord = typeof value === "string" && /^\S+$/u.test(value);
      if (value === true || isWord) {
        attributes += 1;
        lines.push(`A${attributes}\t${name} T${index + 1}${isWord ? ` ${value}` : ""}`);
      } else {
        rest[name] = value;
      }
    }
    if (Object.keys(rest).length) {
      notes += 1;
      lines.push(`#${notes}\tFields T${index + 1}\t${JSON.stringify(rest)}`);
    }
  }
  return lines.map((line) => `${line}\n`).join("");
}

function linesOf(points, [start, end]) {
  const parts = [];
  let from = start;
  for (let at = start; at <= end; at += 1) {
    if (at === end || points[at] === "\n" || points[at] === "\r") {
      if (from < at) parts.push([from, at]);
      from = at + 1;
    }
  }
  return parts.length ? parts : [[start, end]];
}

/* One JSON object, as `trigner extract --format jsonl` writes it, on several lines. */
export function asJson(text, entities) {
  const listed = entities.map(({ label, fragments, text: surface, score, ...fields }) => (
    { label, fragments, text: surface, score, ...fields }
  ));
  return `${JSON.stringify({ text, entities: listed }, null, 2)}\n`;
}
