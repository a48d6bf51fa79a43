/* Files of one or several texts, and what was found in them as a table. */

const QUALIFIERS = ["negated", "hypothetical", "historical", "other_person"];
const COLUMNS = ["document", "label", "text", "fragments", "score", ...QUALIFIERS, "code", "name"];

export const READ = /\.(txt|jsonl|csv|tsv)$/i;

/* The texts of a file as {id, text}: a .txt is one, a .jsonl has an object with a `text` in each
   line, a .csv or .tsv a column called `text`. Throws an Error that says what is wrong. */
export function textsIn(name, content) {
  const stem = name.replace(/\.[^.]*$/, "");
  if (/\.jsonl$/i.test(name)) return fromLines(stem, content);
  if (/\.[ct]sv$/i.test(name)) return fromTable(stem, content);
  return [{ id: stem, text: content }];
}

function fromLines(stem, content) {
  const found = [];
  for (const [index, line] of content.replace(/^\ufeff/, "").split("\n").entries()) {
    if (line.trim()) {
      let value = null;
      try {
        value = JSON.parse(line);
      } catch {
        throw new Error(`line ${index + 1} is not JSON.`);
      }
      if (typeof value?.text !== "string") throw new Error(`line ${index + 1} has no “text”.`);
      found.push({ id: String(value.id ?? `${stem}-${found.length + 1}`), text: value.text });
    }
  }
  if (!found.length) throw new Error("there is no text in it.");
  return found;
}

function fromTable(stem, content) {
  const plain = content.replace(/^\ufeff/, "");
  const head = plain.split("\n", 1)[0];
  const between = ["\t", ";", ","].reduce((a, b) => (head.split(b).length > head.split(a).length ? b : a));
  const [names, ...rows] = rowsOf(plain, between);
  const columns = (names ?? []).map((column) => column.trim().toLowerCase());
  const [text, id] = [columns.indexOf("text"), columns.indexOf("id")];
  if (text < 0) throw new Error("its first line names no column “text”.");
  const found = rows.filter((row) => row.some((cell) => cell.trim())).map((row, index) => ({
    id: row[id] || `${stem}-${index + 1}`, text: row[text] ?? "",
  }));
  if (!found.length) throw new Error("there is no text in it.");
  return found;
}

/* Cells of a CSV; quoted ones may have line breaks and doubled quotes. */
function rowsOf(content, between) {
  const rows = [];
  let row = [];
  const plain = `(?!")[^\\r\\n${between}]*`;
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|(${plain}))(${between}|\\r?\\n|\\r|$)`, "y");
  while (cell.lastIndex < content.length) {
    const found = cell.exec(content);
    if (!found) throw new Error(`row ${rows.length + 1} has a quote that does not end.`);
    row.push(found[1] === undefined ? found[2] : found[1].replaceAll('""', '"'));
    if (found[3] !== between) {
      rows.push(row);
      row = [];
    } else if (cell.lastIndex === content.length) {
      row.push("");
    }
  }
  if (row.length) rows.push(row);
  return rows;
}

/* What an entity's fields say, in a few words: qualifiers, and its code with the name. */
export function remarksOf(entity) {
  const said = QUALIFIERS.filter((name) => entity[name]).map((name) => name.replace("_", " "));
  return [...said, [entity.code, nameOf(entity)].filter(Boolean).join(" ")].filter(Boolean).join(", ");
}

const nameOf = (entity) => (
  entity.candidates?.find((candidate) => candidate.code === entity.code)?.name ?? ""
);

/* A row an entity, of documents {id, entities}; fragments as brat has them. */
export function asCsv(documents) {
  const rows = documents.flatMap(({ id, entities }) => entities.map((entity) => [
    id,
    entity.label,
    entity.text,
    entity.fragments.map(([start, end]) => `${start} ${end}`).join(";"),
    entity.score,
    ...QUALIFIERS.map((name) => entity[name] ?? false),
    entity.code ?? "",
    nameOf(entity),
  ]));
  return [COLUMNS, ...rows].map((row) => `${row.map(cellOf).join(",")}\r\n`).join("");
}

function cellOf(value) {
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
