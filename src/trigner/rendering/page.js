/* Lays out the self-contained pages: documents with their entities, or gold next to predictions.
   What is shown stands as JSON in the element `data`; it only ever becomes text. */
"use strict";

(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const page = document.getElementById("page");
  const CHUNK = 40; // sections; more are added when the end of the page comes near

  // The order is that of reports; the number is that of the colour.
  const KINDS = {
    correct: { colour: 4, means: "same type, same characters" },
    boundary: { colour: 0, means: "same type, overlapping characters, other extent" },
    split: { colour: 6, means: "one gold entity, several predicted pieces of it" },
    joined: { colour: 2, means: "several gold entities, predicted as one" },
    type: { colour: 3, means: "same characters, other type" },
    missed: { colour: 5, means: "gold without a prediction" },
    spurious: { colour: 1, means: "a prediction without gold" },
  };

  function make(name, className, text) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (text !== undefined) element.textContent = text;
    return element;
  }

  const counted = (number, one, more) => `${number.toLocaleString("en")} ${number === 1 ? one : more}`;

  const haveSeveralLabels = (entities) => new Set(entities.map((entity) => entity.label)).size > 1;

  /* Buttons that are on or off; `changed` hears of the set of those that are on. */
  function filters(choices, changed) {
    const bar = make("div", "filters");
    bar.setAttribute("role", "group");
    bar.setAttribute("aria-label", "Show");
    const on = new Set(choices.map((choice) => choice.name));
    for (const { name, colour, number, title } of choices) {
      const button = make("button", `filter ${drawEntities.colourClass(colour)}`);
      button.type = "button";
      button.title = title ?? "";
      button.setAttribute("aria-pressed", "true");
      button.append(make("span", "", name), make("span", "number", number));
      button.addEventListener("click", () => {
        if (!on.delete(name)) on.add(name);
        button.setAttribute("aria-pressed", String(on.has(name)));
        changed(on);
      });
      bar.append(button);
    }
    return bar;
  }

  /* Sections made a few at a time, as the reader comes to them. */
  function growing(list, makeSection) {
    const end = make("div");
    let next = 0;
    const more = (number) => {
      for (const item of list.slice(next, next + number)) end.before(makeSection(item));
      next += number;
      if (next >= list.length) watching.disconnect();
    };
    const watching = new IntersectionObserver((seen) => {
      if (seen.some((entry) => entry.isIntersecting)) {
        more(CHUNK);
        watching.unobserve(end); // to be told again when the end is still near
        if (next < list.length) watching.observe(end);
      }
    }, { rootMargin: "1200px" });
    const all = () => more(list.length);
    page.append(end);
    more(CHUNK);
    if (next < list.length) watching.observe(end);
    window.addEventListener("beforeprint", all, { capture: true });
    return () => {
      watching.disconnect();
      window.removeEventListener("beforeprint", all, { capture: true });
      end.remove();
    };
  }

  function documents() {
    const every = data.documents.flatMap((shown) => shown.entities);
    const numbers = new Map();
    for (const { label } of every) numbers.set(label, (numbers.get(label) ?? 0) + 1);
    const labels = [...numbers.keys()].sort();
    const handles = new Map();
    let on = new Set(labels);
    const chosen = (shown) => shown.entities.filter((entity) => on.has(entity.label));

    const what = `${counted(every.length, "entity", "entities")} in ${
      counted(data.documents.length, "document", "documents")}`;
    page.append(make("h1", "", data.title), make("div", "quiet", what));
    if (labels.length) {
      const choices = labels.map((name, colour) => ({
        name, colour, number: numbers.get(name).toLocaleString("en"),
      }));
      page.append(filters(choices, (now) => {
        on = now;
        for (const [shown, handle] of handles) handle.update(chosen(shown));
      }));
    }
    growing(data.documents, (shown) => {
      const section = make("section", "document");
      const head = make("h2", "", shown.id);
      head.append(make("span", "quiet", `  ${counted(shown.entities.length, "entity", "entities")}`));
      const place = make("div");
      section.append(head, place);
      // Drawn once it stands in the page: before, it has no size.
      queueMicrotask(() => handles.set(shown, drawEntities(place, shown.text, chosen(shown), {
        labels, showLabels: labels.length > 1,
      })));
      return section;
    });
  }

  function compared(shown, on, severalLabels) {
    const section = make("section", "compared");
    const head = make("h2", "", shown.document);
    const kinds = Object.keys(KINDS).filter((kind) => shown.kinds.includes(kind)).join(", ");
    head.append(make("span", "quiet", `  from character ${shown.start}: ${kinds}`));
    const sides = make("div", "sides");
    const handles = {};
    const drawn = {};
    const mark = (side, other) => (indices) => {
      const groups = new Set(indices.map((index) => drawn[side][index].group));
      handles[other].highlight(drawn[other].flatMap((e, i) => (groups.has(e.group) ? [i] : [])));
    };
    for (const [side, other, title] of [
      ["gold", "predicted", "Gold"], ["predicted", "gold", "Prediction"],
    ]) {
      const column = make("div", "side");
      const place = make("div");
      column.append(make("h3", "", title), place);
      sides.append(column);
      drawn[side] = shown[side].filter((entity) => on.has(entity.kind))
        .map((entity) => ({ ...entity, note: entity.kind }));
      queueMicrotask(() => {
        handles[side] = drawEntities(place, shown.text, drawn[side], {
          offset: shown.start,
          showLabels: severalLabels,
          colourOf: (entity) => KINDS[entity.kind].colour,
          onHighlight: mark(side, other),
        });
      });
    }
    section.append(head, sides);
    return section;
  }

  function comparison() {
    const differing = data.snippets.filter((shown) => shown.differs).length;
    page.append(make("h1", "", data.title), make("div", "quiet", [
      counted(data.documents, "document", "documents"),
      `${counted(differing, "sentence differs", "sentences differ")}, shown first`,
      `${(data.snippets.length - differing).toLocaleString("en")} agree`,
      `${data.others.toLocaleString("en")} have no entities and are not shown`,
    ].join(" · ")));
    const severalLabels = haveSeveralLabels(
      data.snippets.flatMap((shown) => [...shown.gold, ...shown.predicted]));
    let clear = () => {};
    const show = (on) => {
      clear();
      for (const old of page.querySelectorAll("section")) old.remove();
      const list = data.snippets.filter((shown) => shown.kinds.some((kind) => on.has(kind)));
      clear = growing(list, (shown) => compared(shown, on, severalLabels));
    };
    const numberOf = ({ kind, gold, predicted }) => {
      if (kind === "missed" || gold === predicted) return gold.toLocaleString("en");
      if (kind === "spurious") return predicted.toLocaleString("en");
      return `${gold.toLocaleString("en")} → ${predicted.toLocaleString("en")}`;
    };
    page.append(filters(data.counts.map((count) => ({
      name: count.kind,
      colour: KINDS[count.kind].colour,
      number: numberOf(count),
      title: `${KINDS[count.kind].means}: ${count.gold} gold, ${count.predicted} predicted`,
    })), show));
    show(new Set(data.counts.map((count) => count.kind)));
  }

  /* Gold, then every system, each below the other where there is no room next to it. */
  function sideBySide(shown, severalLabels) {
    const section = make("section", "compared");
    const head = make("h2", "", shown.document);
    head.append(make("span", "quiet", `  from character ${shown.start}`));
    const sides = make("div", "sides");
    const column = (title, entities) => {
      const side = make("div", "side");
      const place = make("div");
      side.append(make("h3", "", title), place);
      sides.append(side);
      queueMicrotask(() => drawEntities(place, shown.text, entities, {
        offset: shown.start,
        showLabels: severalLabels,
        colourOf: (entity) => KINDS[entity.kind].colour,
      }));
    };
    column("Gold", shown.gold.map((entity) => ({
      ...entity, note: `found by ${entity.found} of ${data.systems.length}`,
    })));
    for (const name of data.systems) {
      const right = shown.columns[name].filter((entity) => entity.kind === "correct").length;
      const title = `${name}: ${right} of ${shown.gold.length}`;
      column(title, shown.columns[name].map((entity) => ({ ...entity, note: entity.kind })));
    }
    section.append(head, sides);
    return section;
  }

  function systems() {
    page.append(make("h1", "", data.title), make("div", "quiet", [
      counted(data.documents, "document", "documents"),
      counted(data.systems.length, "system", "systems"),
      "most mistakes first",
      `${data.others.toLocaleString("en")} sentences have no entities and are not shown`,
    ].join(" · ")));
    const severalLabels = haveSeveralLabels(
      data.snippets.flatMap((shown) => [...shown.gold, ...Object.values(shown.columns).flat()]));
    growing(data.snippets, (shown) => sideBySide(shown, severalLabels));
  }

  /* Gold and two systems, sentence by sentence, where the systems differ. */
  function differences() {
    const OUTCOMES = {
      first: { colour: 0, name: `only ${data.systems[0]} is right` },
      second: { colour: 2, name: `only ${data.systems[1]} is right` },
      wrong: { colour: 1, name: "another mistake" },
    };
    const MARKS = { both: 4, first: 0, second: 2, neither: 5, right: 4, wrong: 1 };
    const number = (outcome) => data.snippets.filter((shown) => shown.outcomes.includes(outcome)).length;
    page.append(make("h1", "", data.title), make("div", "quiet", [
      `${counted(data.snippets.length, "sentence differs", "sentences differ")}, discontinuous gold first`,
      `${data.alike.toLocaleString("en")} with entities are alike and not shown`,
    ].join(" · ")));
    const section = (shown) => {
      const made = make("section", "compared");
      const head = make("h2", "", shown.document);
      head.append(make("span", "quiet", `  from character ${shown.start}`));
      const sides = make("div", "sides three");
      for (const [index, title] of ["Gold", ...data.systems].entries()) {
        const column = make("div", "side");
        const place = make("div");
        column.append(make("h3", "", title), place);
        sides.append(column);
        queueMicrotask(() => drawEntities(place, shown.text, shown.sides[index], {
          offset: shown.start,
          colourOf: (entity) => MARKS[entity.mark],
        }));
      }
      made.append(head, sides);
      return made;
    };
    let clear = () => {};
    const show = (on) => {
      clear();
      for (const old of page.querySelectorAll("section")) old.remove();
      clear = growing(
        data.snippets.filter((shown) => shown.outcomes.some((o) => on.has(OUTCOMES[o].name))), section);
    };
    page.append(filters(Object.entries(OUTCOMES).map(([outcome, { name, colour }]) => ({
      name, colour, number: number(outcome).toLocaleString("en"),
    })), show));
    show(new Set(Object.values(OUTCOMES).map((outcome) => outcome.name)));
  }

  page.replaceChildren();
  if (data.mode === "comparison") comparison();
  else if (data.mode === "systems") systems();
  else if (data.mode === "differences") differences();
  else documents();
})();
