/* The page: sends the text as it is typed and draws the entities; answers to older texts are
   discarded. Text only ever becomes text nodes. */

import { asBrat, asJson, codePointAt, shown, wellFormed } from "./characters.js";
import { drawGrid, drawReason } from "./grid.js";
import { READ, asCsv, remarksOf, textsIn } from "./texts.js";

const AT_A_TIME = 16; // texts of a file that are sent together
const DELAY = 200; // milliseconds after the last key before the text is sent
const SAMPLE = "The most common adverse reactions were headache, nausea and vomiting.\n"
  + "Two patients had swelling of the face and hands, and decreased red and white blood cell counts "
  + "were seen after the second dose.";

const $ = (id) => document.getElementById(id);
const area = $("text");

const state = {
  about: { labels: [], threshold: 0, thresholds: {}, limits: {} },
  // Texts as they were given, unchanged: a text area normalises line breaks. `entities` are null
  // until they were asked for.
  documents: [{ id: "text", text: "", entities: null }],
  current: 0,
  text: "",
  entities: [],
  threshold: null, // null: the model's own
  drawing: null,
  grid: null, // { answer, drawn }
  selected: null, // the key of an entity
};

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

const keyOf = (entity) => JSON.stringify([entity.label, entity.fragments]);

function currentText() {
  const document = state.documents[state.current];
  if (shown(document.text) !== area.value) {
    document.text = wellFormed(area.value);
    document.entities = null;
  }
  return document.text;
}

function visible(entities = state.entities) {
  const { threshold, thresholds } = state.about;
  return entities.filter(({ label, score }) => (
    score >= (state.threshold ?? thresholds[label] ?? threshold)
  ));
}

/* Requests. Of each endpoint only the newest response is used. */

const pending = { extract: null, grid: null, rest: null };

async function post(endpoint, body, slot = endpoint) {
  pending[slot]?.abort();
  const control = new AbortController();
  pending[slot] = control;
  const newest = () => pending[slot] === control;
  try {
    const response = await fetch(`v1/${endpoint}`, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(body),
      signal: control.signal,
    });
    const answer = await response.json();
    if (!newest()) return null;
    const retryAfter = response.status === 503 ? Number(response.headers.get("Retry-After") ?? 1) : null;
    return response.ok ? { answer } : { problem: answer.detail, retryAfter };
  } catch (error) {
    if (!newest() || error.name === "AbortError") return null;
    return { problem: "The service is not responding." };
  }
}

function showProblem(message) {
  $("problem").textContent = message ?? "";
  $("problem").hidden = !message;
}

/* Entities */

let timer = null;

function extractSoon(delay = DELAY) {
  clearTimeout(timer);
  timer = setTimeout(extract, delay);
}

async function extract() {
  const text = currentText();
  const document = state.documents[state.current];
  const started = performance.now();
  $("status").textContent = "…";
  const got = await post("extract", { text, threshold: 0 });
  if (!got) return;
  showProblem(got.problem);
  if (got.retryAfter) extractSoon(1000 * got.retryAfter);
  state.text = text;
  state.entities = got.answer?.entities ?? [];
  document.entities = got.answer?.entities ?? null;
  const notices = got.answer?.notices ?? [];
  $("notices").replaceChildren(...notices.map((notice) => make("li", "", notice)));
  $("notices").hidden = !notices.length;
  if (state.grid?.text !== text) closeGrid();
  drawText();
  showStatus(got.problem ? null : performance.now() - started);
  const nothing = !got.problem && !state.entities.length && text.trim() !== "";
  $("hint").textContent = nothing ? `Nothing was found. ${state.about.about ?? ""}` : "";
  $("hint").hidden = !nothing;
}

function showStatus(milliseconds) {
  const count = visible().length;
  const hidden = state.entities.length - count;
  const parts = [count === 1 ? "1 entity" : `${count} entities`];
  if (hidden) parts.push(`${hidden} below the minimum score`);
  if (milliseconds) parts.push(`${Math.round(milliseconds)} ms`);
  $("status").textContent = milliseconds === null ? "" : parts.join(" · ");
}

function drawText() {
  state.drawing?.destroy();
  state.drawing = globalThis.drawEntities($("drawing"), state.text, noted(), {
    labels: state.about.labels,
    showLabels: state.about.labels.length > 1,
    onSelect: (_, entity) => explain(entity),
  });
  listEntities();
}

/* What is drawn: qualifiers and codes stand behind the type. */
function noted() {
  return visible().map((entity) => ({ ...entity, note: remarksOf(entity) }));
}

function applyThreshold() {
  state.drawing?.update(noted());
  listEntities();
  showStatus();
}

function listEntities() {
  const entities = visible();
  const points = Array.from(state.text);
  const rows = entities.map((entity, index) => {
    const row = make("tr");
    const type = make("td");
    type.append(chip(entity.label));
    const cell = make("td");
    const surfaces = entity.fragments.map(([a, b]) => points.slice(a, b).join("").replace(/\s+/g, " "));
    const button = make("button", "entity", surfaces.join(" … "));
    button.type = "button";
    button.dir = "auto";
    button.title = "Explain with the word-pair grid";
    button.dataset.key = keyOf(entity);
    button.addEventListener("click", () => explain(entity));
    for (const [on, off] of [["pointerenter", "pointerleave"], ["focus", "blur"]]) {
      button.addEventListener(on, () => state.drawing.highlight([index]));
      button.addEventListener(off, () => state.drawing.highlight([]));
    }
    cell.append(button);
    const score = make("td", "score");
    const meter = make("span", `meter ${colourOf(entity.label)}`);
    meter.style.setProperty("--share", `${(100 * entity.score).toFixed(1)}%`);
    score.append(meter, entity.score.toFixed(3));
    const ranges = entity.fragments.map(([a, b]) => `${a}–${b}`).join(", ");
    row.append(type, cell, make("td", "numbers", ranges), score, make("td", "remarks", remarksOf(entity)));
    return row;
  });
  $("entities").tBodies[0].replaceChildren(...rows);
  markSelected();
  $("entities").hidden = !rows.length;
  $("entities").classList.toggle("plain", !entities.some(remarksOf));
  $("copy-json").disabled = $("copy-brat").disabled = !rows.length;
  $("save-csv").disabled = !rows.length && state.documents.length < 2;
}

/* Marks the entity that is explained, without moving the focus. */
function markSelected() {
  for (const button of $("entities").querySelectorAll("button")) {
    button.setAttribute("aria-pressed", String(button.dataset.key === state.selected));
  }
}

function colourOf(label) {
  return globalThis.drawEntities.colourClass(Math.max(state.about.labels.indexOf(label), 0));
}

function chip(label) {
  return make("span", `chip ${colourOf(label)}`, label);
}

/* The grid */

async function explain(entity) {
  state.selected = keyOf(entity);
  markSelected();
  if (state.grid?.text === state.text) {
    const known = state.grid.answer.entities.find((e) => keyOf(e) === state.selected);
    if (known) {
      showReason(known);
      return;
    }
  }
  await openGrid(entity.fragments[0][0]);
}

async function openGrid(at) {
  const text = state.text;
  const got = await post("grid", { text, at });
  if (!got || text !== state.text) return;
  $("why").hidden = false;
  if (got.problem) {
    state.grid = null;
    $("grid").replaceChildren();
    $("readout").textContent = "";
    $("reason").replaceChildren(make("p", "problem", got.problem));
  } else {
    const show = (message) => { $("readout").textContent = message; };
    const drawn = drawGrid($("grid"), got.answer, state.about.labels, show);
    state.grid = { text, answer: got.answer, drawn };
    $("readout").textContent = "Point at a cell or use the arrow keys.";
    showReason(got.answer.entities.find((e) => keyOf(e) === state.selected));
  }
  $("why").scrollIntoView({ block: "nearest" });
  $("why").focus({ preventScroll: true });
}

function showReason(entity) {
  state.grid.drawn.mark(entity);
  drawReason($("reason"), state.grid.answer, entity, state.about.labels);
}

function closeGrid() {
  pending.grid?.abort();
  pending.grid = null;
  state.grid = null;
  state.selected = null;
  $("why").hidden = true;
}

/* Files and the clipboard */

async function loadFile(file) {
  if (!file) return;
  if (!READ.test(file.name) && file.type !== "text/plain") {
    showProblem(`${file.name} is not a .txt, .jsonl, .csv or .tsv file.`);
    return;
  }
  let texts = [];
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
    texts = textsIn(file.name, decoder.decode(await file.arrayBuffer()));
  } catch (error) {
    const isOurs = !(error instanceof TypeError); // which the decoder throws
    showProblem(`${file.name} ${isOurs ? `cannot be read: ${error.message}` : "is not encoded in UTF-8."}`);
    return;
  }
  const limit = state.about.limits.max_body;
  const tooLong = texts.find(({ text }) => limit && new Blob([text]).size > limit);
  if (tooLong) {
    const what = texts.length > 1 ? `${tooLong.id} in ${file.name}` : file.name;
    showProblem(`${what} is larger than ${limit} bytes, the limit of this service.`);
    return;
  }
  setDocuments(texts);
}

function setDocuments(texts) {
  pending.rest?.abort();
  pending.rest = null;
  state.documents = texts.map((document) => ({ ...document, entities: null }));
  $("several").hidden = texts.length < 2;
  openDocument(0);
}

function openDocument(index) {
  state.current = index;
  const { id, text } = state.documents[index];
  area.value = shown(text);
  $("place").textContent = `${index + 1} of ${state.documents.length}: ${id}`;
  $("previous").disabled = index === 0;
  $("next").disabled = index === state.documents.length - 1;
  extractSoon(0);
}

/* Entities of the texts that were not looked at yet; false when the service has a problem. */
async function extractRest() {
  currentText();
  const { documents } = state;
  for (;;) {
    const missing = documents.filter((document) => document.entities === null);
    if (!missing.length) return true;
    const batch = missing.slice(0, Math.min(AT_A_TIME, state.about.limits.max_texts ?? AT_A_TIME));
    $("status").textContent = `${documents.length - missing.length} of ${documents.length} texts …`;
    const sent = batch.map((document) => document.text);
    const got = await post("extract", { texts: sent, threshold: 0 }, "rest");
    if (!got || documents !== state.documents) return false;
    if (got.retryAfter) {
      await new Promise((done) => { setTimeout(done, 1000 * got.retryAfter); });
    } else if (got.problem) {
      showProblem(got.problem);
      return false;
    } else {
      for (const [index, document] of batch.entries()) {
        // One that was changed meanwhile is asked for again.
        if (document.text === sent[index]) document.entities = got.answer.documents[index].entities;
      }
    }
  }
}

async function saveCsv() {
  if (!(await extractRest())) return;
  const found = state.documents.map(({ id, entities }) => ({ id, entities: visible(entities) }));
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([asCsv(found)], { type: "text/csv" }));
  link.download = "entities.csv";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  const count = found.reduce((sum, { entities }) => sum + entities.length, 0);
  $("status").textContent = `Saved ${count === 1 ? "1 row" : `${count} rows`} as entities.csv`;
}

async function copy(format, text) {
  let done = true;
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    done = copyWithCommand(text); // without HTTPS, only pages of this machine have a clipboard
  }
  $("status").textContent = done ? `Copied as ${format}` : "The browser blocked copying.";
}

function copyWithCommand(text) {
  const carrier = make("textarea", "unseen");
  carrier.value = text;
  document.body.append(carrier);
  const focused = document.activeElement;
  carrier.select();
  const done = document.execCommand("copy");
  carrier.remove();
  focused?.focus();
  return done;
}

/* Events */

area.addEventListener("input", () => extractSoon());
$("clear").addEventListener("click", () => {
  setDocuments([{ id: "text", text: "" }]);
  area.focus();
});
$("open").addEventListener("click", () => $("file").click());
$("file").addEventListener("change", (event) => {
  loadFile(event.target.files[0]);
  event.target.value = "";
});
$("threshold").addEventListener("input", (event) => {
  state.threshold = Number(event.target.value);
  $("threshold-value").textContent = state.threshold.toFixed(2);
  applyThreshold();
});
$("copy-json").addEventListener("click", () => copy("JSON", asJson(state.text, visible())));
$("previous").addEventListener("click", () => openDocument(state.current - 1));
$("next").addEventListener("click", () => openDocument(state.current + 1));
$("save-csv").addEventListener("click", saveCsv);
$("copy-brat").addEventListener("click", () => copy("brat", asBrat(state.text, visible())));
$("show-grid").addEventListener("click", () => {
  state.selected = null;
  markSelected();
  openGrid(codePointAt(state.text, area.selectionStart));
});
$("close-grid").addEventListener("click", () => {
  const opener = $("entities").querySelector("[aria-pressed=true]") ?? $("show-grid");
  closeGrid();
  markSelected();
  opener.focus({ preventScroll: true });
});
$("why").addEventListener("keydown", (event) => {
  if (event.key === "Escape") $("close-grid").click();
});

for (const name of ["dragover", "drop", "dragleave"]) {
  window.addEventListener(name, (event) => {
    const files = event.dataTransfer?.types.includes("Files");
    if (name !== "dragleave" && files) event.preventDefault();
    document.body.classList.toggle("dropping", name === "dragover" && files);
    if (name === "drop" && files) loadFile(event.dataTransfer.files[0]);
  });
}

async function start() {
  try {
    state.about = await (await fetch("v1/model")).json();
  } catch {
    showProblem("The service is not responding.");
    return;
  }
  const { labels, system, versions, threshold } = state.about;
  $("model").textContent = `trigner ${versions.trigner} · system ${system} · ${versions.precision}`;
  $("legend").replaceChildren(...labels.map((label) => {
    const item = make("li");
    item.append(chip(label));
    return item;
  }));
  $("entities").classList.toggle("one-type", labels.length < 2);
  $("threshold").value = threshold;
  $("threshold-value").textContent = threshold.toFixed(2);
  $("how-w2ner").hidden = system !== "w2ner";
  if (!area.value) area.value = SAMPLE;
  extractSoon(0);
}

listEntities();
start();
