/* The word-pair grid of one sentence as a table, with the cells of one entity marked. */

const BLANK_BELOW = 0.005; // cells with lower probabilities are left blank
const percent = (share) => `${(100 * share).toFixed(1)} %`;

function make(name, className, text) {
  const element = document.createElement(name);
  if (className) element.className = className;
  if (text !== undefined) element.textContent = text;
  return element;
}

/* The CSS class of a tag's colour: one for links, the label's for other tags. */
function colourOf(tag, labels) {
  const index = labels.findIndex((label) => tag.endsWith(`-${label}`));
  return index < 0 ? "link" : globalThis.drawEntities.colourClass(index);
}

/* Tags of a cell, the most probable first, without NONE (which not every scheme has). */
function ranked(cell, tags) {
  const shares = cell.map((share, tag) => [share, tag]);
  return shares.filter(([, tag]) => tags[tag] !== "NONE").sort((a, b) => b[0] - a[0]);
}

/* `answer` is the response of POST /v1/grid; `onRead(message)` gets a description of a cell. */
export function drawGrid(container, answer, labels, onRead) {
  const { words, tags, probabilities } = answer;
  const table = make("table", "pairs");
  table.setAttribute("role", "grid");
  table.setAttribute("aria-label", "Rows and columns are the words of the sentence");
  const head = make("tr");
  head.append(make("td", "corner"));
  for (const word of words) {
    const cell = make("th", "column");
    cell.scope = "col";
    cell.append(make("span", "", word.text));
    head.append(cell);
  }
  const body = make("tbody");
  const cells = words.map((word, row) => {
    const line = make("tr");
    const title = make("th", "row", word.text);
    title.scope = "row";
    title.title = word.text;
    line.append(title);
    body.append(line);
    return words.map((_, column) => {
      const cell = cellOf(probabilities[row][column], tags, labels);
      cell.dataset.row = row;
      cell.dataset.column = column;
      line.append(cell);
      return cell;
    });
  });
  const top = make("thead");
  top.append(head);
  table.append(top, body);
  container.replaceChildren(table);
  listen(table, cells, (row, column) => {
    const own = probabilities[row][column];
    const order = own.map((share, tag) => [share, tag]).sort((a, b) => b[0] - a[0]);
    const description = order.map(([share, tag]) => `${tags[tag]} ${percent(share)}`).join(", ");
    onRead(`${words[row].text} × ${words[column].text}: ${description}`);
  });
  cells[0][0].tabIndex = 0;
  return { mark: (entity) => markCells(cells, entity) };
}

function cellOf(shares, tags, labels) {
  const cell = make("td", "pair");
  const [share, tag] = ranked(shares, tags)[0];
  cell.tabIndex = -1;
  if (share >= BLANK_BELOW) {
    cell.classList.add(colourOf(tags[tag], labels));
    cell.style.setProperty("--share", `${(100 * share).toFixed(1)}%`);
    cell.classList.toggle("strong", share > 0.55);
    cell.textContent = String(Math.round(100 * share));
  }
  return cell;
}

/* Marks the cells of an entity, or of none. */
function markCells(cells, entity) {
  for (const line of cells) {
    for (const cell of line) {
      cell.classList.remove("part");
      cell.removeAttribute("aria-selected");
    }
  }
  for (const { row, column } of entity?.cells ?? []) {
    cells[row][column].classList.add("part");
    cells[row][column].setAttribute("aria-selected", "true");
  }
}

const MOVES = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

function listen(table, cells, onRead) {
  const position = (event) => {
    const cell = event.target.closest("td.pair");
    return cell ? [Number(cell.dataset.row), Number(cell.dataset.column)] : null;
  };
  const cross = ([row, column]) => {
    for (const old of table.querySelectorAll(".here")) old.classList.remove("here");
    table.tHead.rows[0].cells[column + 1].classList.add("here");
    table.tBodies[0].rows[row].cells[0].classList.add("here");
    onRead(row, column);
  };
  for (const name of ["pointerover", "focusin"]) {
    table.addEventListener(name, (event) => {
      const at = position(event);
      if (at) cross(at);
    });
  }
  table.addEventListener("keydown", (event) => {
    const at = position(event);
    if (!at) return;
    const last = cells.length - 1;
    let next = null;
    if (event.key in MOVES) next = at.map((value, axis) => value + MOVES[event.key][axis]);
    if (event.key === "Home") next = [at[0], 0];
    if (event.key === "End") next = [at[0], last];
    if (!next) return;
    event.preventDefault();
    const [row, column] = next.map((value) => Math.min(Math.max(value, 0), last));
    cells[at[0]][at[1]].tabIndex = -1;
    cells[row][column].tabIndex = 0;
    cells[row][column].focus();
  });
}

/* Explains the score of an entity: the product of its cells. */
export function drawReason(container, answer, entity, labels) {
  container.replaceChildren();
  if (!entity) {
    const count = answer.entities.length;
    const none = count ? "" : "No entities found in this sentence. ";
    container.append(make("p", "", `${none}Darker cells have a higher probability.`));
    return;
  }
  const line = make("p", "reason");
  line.append(make("b", "", `${entity.label} ${entity.score.toFixed(3)}`), " = ");
  entity.cells.forEach(({ row, column, tag, probability }, number) => {
    if (number) line.append(" × ");
    const colour = colourOf(answer.tags[tag], labels);
    const factor = make("span", `factor ${colour}`);
    const [from, to] = [answer.words[row].text, answer.words[column].text];
    factor.append(`${from} → ${to} `, make("b", "", probability.toFixed(3)), make("small", "", answer.tags[tag]));
    line.append(factor);
  });
  container.append(line);
}
