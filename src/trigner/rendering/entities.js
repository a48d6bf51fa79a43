/* Draws a text with its entities: the fragments of an entity stand on one track under the words and
   are joined by arcs; entities that overlap, share fragments or are nested have tracks of their own.

     const handle = drawEntities(container, text, entities, options);

   container  an element; what it holds is replaced.
   text       a string. It only ever becomes text nodes.
   entities   [{label, fragments: [[start, end], ...], text, score}, ...]: half-open ranges that count
              Unicode code points, as Python does. `score` may be missing or null, `text` may be
              missing; `note` (a few words) is shown behind the label.
   options    all may be missing:
     labels      labels in the order that decides their colours; those of the entities, sorted, if
                 missing
     colourOf    (entity, index) -> number of a colour, in place of that of its label
     offset      added to the offsets that are shown (code points), for a text that is a part
     showLabels  whether labels stand under their bars (true); needless when there is one label only
     showScores  whether scores stand behind labels (true); they are always in the tooltip
     onSelect    (index, entity) => ..., on a click on an entity's track, Enter or the space bar
     onHighlight (indices) => ..., when entities are pointed at or focused, [] when no longer

   The handle:
     update(entities)    other entities on the same text
     highlight(indices)  marks entities as if they were pointed at, without a tooltip; [] ends it
     redraw()            after a change of fonts; changes of width are seen without it
     drawAll()           draws what is lazily left for later
     destroy()           empties the container and stops listening
     element             the element that was drawn

   drawEntities.colourClass(number) is the class that sets `--te-colour`, for legends.

   Styles are in entities.css. It follows `color-scheme`. No style attribute and no HTML is made from
   data, so that `style-src` and `script-src` of a content security policy need no 'unsafe-inline'. */
"use strict";

globalThis.drawEntities = (() => {
  const COLOURS = 8;
  const TRACK = 22; // pixels, as the height of a bar, its label and the space under them
  const BAR = 4;
  const LABEL_SIZE = 10.5;
  const EAGER = 300; // entities; with more, blocks are drawn when they come near the window
  const LONG_BLOCK = 4000; // UTF-16 units; longer paragraphs are divided between words
  const SVG = "http://www.w3.org/2000/svg";

  const colourClass = (number) => `te-c${((number % COLOURS) + COLOURS) % COLOURS}`;

  /* Code points -> UTF-16 units: a function of an offset. */
  function unitsOf(text) {
    if (!/[\ud800-\udbff][\udc00-\udfff]/.test(text)) {
      return (offset) => Math.min(Math.max(offset, 0), text.length);
    }
    const units = [];
    let at = 0;
    for (const character of text) {
      units.push(at);
      at += character.length;
    }
    units.push(at);
    return (offset) => units[Math.min(Math.max(offset, 0), units.length - 1)];
  }

  /* Entities as items with sorted ranges of UTF-16 units; those without characters are left out. */
  function itemsOf(text, entities, options) {
    const units = unitsOf(text);
    const labels = options.labels ?? [...new Set(entities.map((e) => e.label))].sort();
    const items = [];
    entities.forEach((entity, index) => {
      const ranges = entity.fragments
        .map(([start, end]) => [units(start), units(end)])
        .filter(([start, end]) => start < end)
        .sort((a, b) => a[0] - b[0] || a[1] - b[1]);
      if (!ranges.length) return;
      const colour = options.colourOf?.(entity, index) ?? Math.max(labels.indexOf(entity.label), 0);
      const pieces = ranges.map(([a, b]) => text.slice(a, b).replace(/\s+/g, " ").trim());
      items.push({
        index, entity, ranges,
        start: ranges[0][0],
        end: Math.max(...ranges.map((range) => range[1])),
        surface: pieces.join(" … "),
        colour: colourClass(colour),
      });
    });
    return items.sort((a, b) => a.start - b.start || a.end - b.end || a.index - b.index);
  }

  /* Paragraphs as ranges that no entity crosses, with the entities in each. */
  function blocksOf(text, items) {
    const cuts = [];
    let last = 0;
    const breaks = /\n|\s/g;
    for (let found = breaks.exec(text); found; found = breaks.exec(text)) {
      const at = found.index + 1;
      // Long lines are divided, short ones are only divided from each other.
      if (found[0] === "\n" || at - last >= LONG_BLOCK) cuts.push((last = at));
    }
    const blocks = [];
    let start = 0;
    let next = 0;
    let reach = 0;
    for (const cut of [...cuts, text.length]) {
      const inside = () => next < items.length && items[next].start < cut;
      while (inside()) reach = Math.max(reach, items[next++].end);
      if (cut > start && reach <= cut) {
        blocks.push({ start, end: cut, items: [], drawn: false });
        start = cut;
      }
    }
    let block = 0;
    for (const item of items) {
      while (blocks[block].end <= item.start) block += 1;
      blocks[block].items.push(item);
    }
    return blocks;
  }

  /* Pieces of a block's text between the bounds of all its fragments. */
  function segmentsOf(block) {
    const bounds = new Set([block.start, block.end]);
    for (const item of block.items) item.ranges.flat().forEach((bound) => bounds.add(bound));
    const sorted = [...bounds].sort((a, b) => a - b);
    const opening = new Map();
    for (const item of block.items) {
      item.ranges.forEach(([start, end], fragment) => {
        if (!opening.has(start)) opening.set(start, []);
        opening.get(start).push({ item, fragment, end });
      });
    }
    const segments = [];
    let open = [];
    for (let i = 0; i + 1 < sorted.length; i += 1) {
      open = open.filter((covering) => covering.end > sorted[i]);
      open.push(...(opening.get(sorted[i]) ?? []));
      segments.push({ start: sorted[i], end: sorted[i + 1], covers: [...open] });
    }
    return segments;
  }

  const make = (name, className) => {
    const element = document.createElement(name);
    if (className) element.className = className;
    return element;
  };
  const makeSvg = (name, attributes = {}) => {
    const element = document.createElementNS(SVG, name);
    for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
    return element;
  };

  const scoreOf = (entity) => (entity.score === null || entity.score === undefined
    ? "" : Number(entity.score).toFixed(2));

  const measuring = document.createElement("canvas").getContext("2d");
  const widths = new Map();
  function labelWidth(label, family) {
    const key = `${family}\n${label}`;
    if (!widths.has(key)) {
      measuring.font = `600 ${LABEL_SIZE}px ${family}`;
      widths.set(key, measuring.measureText(label).width);
    }
    return widths.get(key);
  }

  /* Where the marks of a block stand: [{segment, x0, x1, top, bottom}], relative to the block. */
  function measured(block) {
    const box = block.element.getBoundingClientRect();
    const rects = [];
    for (const segment of block.segments) {
      if (!segment.mark) continue;
      for (const r of segment.mark.getClientRects()) {
        rects.push({
          segment, x0: r.left - box.left, x1: r.right - box.left,
          top: r.top - box.top, bottom: r.bottom - box.top,
        });
      }
    }
    rects.sort((a, b) => a.top - b.top);
    let line = -1;
    let top = -Infinity;
    for (const rect of rects) {
      if (rect.top - top > 4) {
        line += 1;
        top = rect.top;
      }
      rect.line = line;
    }
    return { rects, lines: line + 1, width: box.width };
  }

  /* Bars of each entity by line: [{item, line, bars: [{x0, x1, first, last}], enters, leaves}]. */
  function rowsOf(block, measure) {
    const rows = new Map();
    for (const rect of measure.rects) {
      for (const { item, fragment } of rect.segment.covers) {
        const key = `${item.index} ${rect.line}`;
        if (!rows.has(key)) rows.set(key, { item, line: rect.line, bars: [] });
        rows.get(key).bars.push({ x0: rect.x0, x1: rect.x1, fragment });
      }
    }
    for (const row of rows.values()) {
      const bars = [];
      for (const bar of row.bars.sort((a, b) => a.x0 - b.x0)) {
        const before = bars.at(-1);
        if (before && before.fragment === bar.fragment && bar.x0 - before.x1 < 1.5) {
          before.x1 = Math.max(before.x1, bar.x1);
        } else {
          bars.push({ ...bar, x1: Math.max(bar.x1, bar.x0 + 3) });
        }
      }
      row.bars = bars;
    }
    const byItem = new Map();
    for (const row of rows.values()) {
      if (!byItem.has(row.item)) byItem.set(row.item, []);
      byItem.get(row.item).push(row);
    }
    for (const own of byItem.values()) {
      own.sort((a, b) => a.line - b.line);
      own.forEach((row, i) => {
        row.enters = i > 0;
        row.leaves = i + 1 < own.length;
      });
    }
    return [...rows.values()];
  }

  /* A level for each row, such that rows of one level do not touch; the short ones come first. */
  function stack(block, measure, rows, family, options) {
    const used = Array.from({ length: measure.lines }, () => []);
    for (const row of rows) {
      const { entity } = row.item;
      const named = [(options.showLabels ?? true) && entity.label, entity.note];
      row.label = named.filter(Boolean).join(" · ");
      row.score = (options.showScores ?? true) ? scoreOf(entity) : "";
      const width = labelWidth([row.label, row.score].join(" ").trim(), family) + 4;
      const left = row.bars[0].x0;
      row.labelAt = Math.max(0, Math.min(left, measure.width - width));
      // Only where an entity begins does its label stand.
      const ends = [row.bars.at(-1).x1, row.enters ? 0 : row.labelAt + width];
      const [entry, exit] = block.rtl ? [row.leaves, row.enters] : [row.enters, row.leaves];
      row.x0 = entry ? 0 : Math.min(left, row.labelAt);
      row.x1 = exit ? measure.width : Math.max(...ends);
    }
    const extent = (row) => row.bars.at(-1).x1 - row.bars[0].x0;
    const order = [...rows].sort(
      (a, b) => a.line - b.line || extent(a) - extent(b) || a.item.start - b.item.start
        || a.item.index - b.item.index,
    );
    for (const row of order) {
      const levels = used[row.line];
      row.level = levels.findIndex((taken) => taken.every(([a, b]) => row.x1 + 6 < a || b + 6 < row.x0));
      if (row.level < 0) row.level = levels.push([]) - 1;
      levels[row.level].push([row.x0, row.x1]);
    }
    return used.map((levels) => levels.length);
  }

  /* Which segments make room for how many tracks. A segment that runs over several lines makes it
     under all of them, so that segments on one line go first. */
  function roomsOf(rects, levels) {
    const linesOf = new Map();
    for (const { segment, line } of rects) {
      if (!linesOf.has(segment)) linesOf.set(segment, new Set());
      linesOf.get(segment).add(line);
    }
    const rooms = new Map();
    const done = new Set();
    for (const [segment, lines] of [...linesOf].sort((a, b) => a[1].size - b[1].size)) {
      const open = [...lines].filter((line) => !done.has(line));
      if (!open.length) continue;
      rooms.set(segment, Math.max(...open.map((line) => levels[line])));
      open.forEach((line) => done.add(line));
    }
    return rooms;
  }

  function arc(x0, x1, y) {
    // Above the labels, which stand under the bars and may reach into the gap.
    const dip = Math.min(6, 2 + (x1 - x0) / 10);
    const bend = Math.min((x1 - x0) / 2, 14);
    return makeSvg("path", {
      class: "te-arc",
      d: `M${x0} ${y}C${x0 + bend} ${y + dip} ${x1 - bend} ${y + dip} ${x1} ${y}`,
    });
  }

  const chevron = (x, y, towards) => makeSvg("path", {
    class: "te-chevron", d: `M${x - 2.5 * towards} ${y - 3.5}l${4 * towards} 3.5l${-4 * towards} 3.5`,
  });

  /* The track of an entity on one line, at height y. */
  function drawRow(group, row, y, width, rtl) {
    const middle = y + BAR / 2;
    for (const [i, bar] of row.bars.entries()) {
      if (i) group.append(arc(row.bars[i - 1].x1 - 1, bar.x0 + 1, middle));
      group.append(makeSvg("rect", {
        class: "te-bar", x: bar.x0, y, width: Math.max(bar.x1 - bar.x0, 1), height: BAR, rx: BAR / 2,
      }));
    }
    const [left, right] = rtl ? [row.leaves, row.enters] : [row.enters, row.leaves];
    if (left) {
      if (row.bars[0].x0 > 8) group.append(arc(2, row.bars[0].x0 + 1, middle));
      group.append(chevron(rtl ? 1 : 3, middle, rtl ? -1 : 1));
    }
    if (right) {
      const end = row.bars.at(-1).x1;
      if (width - end > 8) group.append(arc(end - 1, width - 2, middle));
      group.append(chevron(rtl ? width - 3 : width - 1, middle, rtl ? -1 : 1));
    }
    // A wide target for the pointer: tracks are thin.
    group.prepend(makeSvg("rect", {
      class: "te-target", x: row.x0, y: y - 2, width: Math.max(row.x1 - row.x0, 4), height: TRACK - 3,
    }));
    if (row.enters || !(row.label || row.score)) return;
    const label = makeSvg("text", { class: "te-label", x: row.labelAt, y: y + BAR + LABEL_SIZE + 1 });
    label.append(row.label);
    if (row.score) {
      const score = makeSvg("tspan", { class: "te-score" });
      score.textContent = row.label ? ` ${row.score}` : row.score;
      label.append(score);
    }
    group.append(label);
  }

  return Object.assign(function drawEntities(container, text, entities, options = {}) {
    const root = make("div", "te-root");
    const tip = make("div", "te-tip");
    tip.setAttribute("role", "tooltip");
    tip.hidden = true;
    const owners = new WeakMap(); // element -> the items it stands for
    let blocks = [];
    let watching = null;
    let width = 0;
    let waiting = 0;
    let pointed = "";

    function describe({ entity, surface }) {
      const score = scoreOf(entity);
      const where = offsetsOf(entity);
      return [entity.label, entity.note, surface, score && `score ${score}`, `characters ${where}`]
        .filter(Boolean).join(", ");
    }

    const offsetsOf = (entity) => entity.fragments
      .map(([start, end]) => `${start + (options.offset ?? 0)}–${end + (options.offset ?? 0)}`)
      .join(", ");

    function build(block) {
      block.segments = segmentsOf(block);
      block.text.textContent = "";
      for (const segment of block.segments) {
        const piece = text.slice(segment.start, segment.end);
        if (!segment.covers.length) {
          block.text.append(piece);
          continue;
        }
        // The outer box makes room under its line, the inner one stays on the line's baseline.
        segment.room = make("span", "te-room");
        segment.mark = make("span", `te-mark ${segment.covers[0].item.colour}`);
        segment.mark.textContent = piece;
        segment.room.append(segment.mark);
        block.text.append(segment.room);
        owners.set(segment.mark, [...new Set(segment.covers.map((covering) => covering.item))]);
      }
      block.svg = makeSvg("svg", { class: "te-tracks" });
      block.element.append(block.svg);
    }

    /* Reads and writes of the layout alternate once for all blocks, not once a block. */
    function draw(chosen) {
      const shown = chosen.filter((block) => block.items.length);
      for (const block of shown) {
        if (!block.segments) build(block);
        for (const { room } of block.segments) room?.style.removeProperty("--te-extra");
      }
      const family = getComputedStyle(root).fontFamily;
      const plans = shown.map((block) => {
        block.rtl = getComputedStyle(block.text).direction === "rtl";
        const measure = measured(block);
        const rows = rowsOf(block, measure);
        const levels = stack(block, measure, rows, family, options);
        return { block, measure, rows, levels };
      });
      for (const { measure, levels } of plans) {
        for (const [segment, n] of roomsOf(measure.rects, levels)) {
          segment.room.style.setProperty("--te-extra", `${n * TRACK + 2}px`);
        }
      }
      for (const plan of plans) plan.again = measured(plan.block);
      for (const plan of plans) paint(plan);
      for (const block of chosen) block.drawn = true;
    }

    function paint({ block, measure, rows, again }) {
      const bottoms = [];
      for (const rect of again.rects) bottoms[rect.line] = rect.bottom;
      const groups = new Map();
      for (const item of block.items) {
        const group = makeSvg("g", {
          class: `te-entity ${item.colour}`, tabindex: 0, role: "button", "aria-label": describe(item),
          "data-index": item.index,
        });
        owners.set(group, [item]);
        groups.set(item, group);
      }
      for (const row of rows) {
        const y = (bottoms[row.line] ?? 0) + 1 + row.level * TRACK;
        drawRow(groups.get(row.item), row, y, measure.width, block.rtl);
      }
      const focused = block.svg.contains(document.activeElement)
        ? document.activeElement.getAttribute("data-index") : null;
      block.svg.replaceChildren(...groups.values());
      if (focused !== null) block.svg.querySelector(`[data-index="${focused}"]`)?.focus();
    }

    function start(all) {
      watching?.disconnect();
      root.replaceChildren();
      const items = itemsOf(text, all, options);
      blocks = blocksOf(text, items);
      const byElement = new Map();
      for (const block of blocks) {
        block.element = make("div", "te-block");
        block.element.dir = "auto";
        block.text = make("div", "te-text");
        block.text.textContent = text.slice(block.start, block.end);
        block.element.append(block.text);
        root.append(block.element);
        byElement.set(block.element, block);
      }
      root.append(tip);
      width = root.clientWidth;
      if (items.length <= EAGER) {
        draw(blocks);
        return;
      }
      watching = new IntersectionObserver((seen) => {
        const near = seen.filter((entry) => entry.isIntersecting);
        near.forEach((entry) => watching.unobserve(entry.target));
        draw(near.map((entry) => byElement.get(entry.target)));
      }, { rootMargin: "800px" });
      for (const block of blocks) if (block.items.length) watching.observe(block.element);
    }

    const redraw = () => {
      width = root.clientWidth;
      if (width) draw(blocks.filter((block) => block.drawn));
    };

    const sizes = new ResizeObserver(() => {
      if (root.clientWidth === width || waiting) return;
      waiting = requestAnimationFrame(() => {
        waiting = 0;
        redraw();
      });
    });

    function highlight(indices) {
      const chosen = new Set(indices);
      root.classList.toggle("te-active", chosen.size > 0);
      for (const element of root.querySelectorAll(".te-on")) show(element, owners.get(element)[0], false);
      if (!chosen.size) return;
      for (const element of root.querySelectorAll(".te-entity, .te-mark")) {
        const item = owners.get(element)?.find((owner) => chosen.has(owner.index));
        if (item) show(element, item, true);
      }
    }

    /* A mark that several entities share takes the colour of the one that is pointed at. */
    function show(element, item, on) {
      const kind = element.classList[0];
      element.setAttribute("class", `${kind} ${item.colour}${on ? " te-on" : ""}`);
    }

    function showTip(items, element) {
      tip.replaceChildren();
      for (const item of items) {
        const line = make("div", `te-tip-entity ${item.colour}`);
        const head = make("div", "te-tip-head");
        const label = make("span", "te-tip-label");
        label.textContent = item.entity.label;
        head.append(label);
        const facts = [item.entity.note, scoreOf(item.entity), offsetsOf(item.entity)];
        for (const fact of facts.filter(Boolean)) {
          const part = make("span", "te-tip-fact");
          part.textContent = fact;
          head.append(part);
        }
        const surface = make("div", "te-tip-surface");
        surface.dir = "auto";
        surface.textContent = item.surface;
        line.append(head, surface);
        tip.append(line);
      }
      tip.hidden = false;
      const at = element.getBoundingClientRect();
      const box = root.getBoundingClientRect();
      const left = Math.min(at.left - box.left, box.width - tip.offsetWidth);
      tip.style.setProperty("left", `${Math.max(left, 0)}px`);
      const below = at.bottom - box.top + 6;
      const above = at.top - box.top - tip.offsetHeight - 6;
      const fits = at.bottom + tip.offsetHeight + 12 < document.documentElement.clientHeight;
      tip.style.setProperty("top", `${fits || box.top + above < 0 ? below : above}px`);
    }

    function point(items, element) {
      const indices = items.map((item) => item.index);
      if (indices.join() === pointed) return;
      pointed = indices.join();
      highlight(indices);
      if (items.length) showTip(items, element);
      else tip.hidden = true;
      options.onHighlight?.(indices);
    }

    const entityAt = (target) => target.closest?.(".te-entity, .te-mark");
    const listeners = {
      pointerover(event) {
        const element = entityAt(event.target);
        if (element) point(owners.get(element) ?? [], element);
        else if (!tip.contains(event.target)) point([]);
      },
      pointerleave: () => point([]),
      focusin(event) {
        const element = entityAt(event.target);
        if (element) point(owners.get(element) ?? [], element);
      },
      focusout: () => point([]),
      click(event) {
        const element = event.target.closest?.(".te-entity");
        if (element) select(element);
      },
      keydown(event) {
        if (event.key === "Escape") point([]);
        const element = event.target.closest?.(".te-entity");
        if (element && (event.key === "Enter" || event.key === " ")) {
          event.preventDefault();
          select(element);
        }
      },
    };
    const select = (element) => {
      const [item] = owners.get(element);
      options.onSelect?.(item.index, item.entity);
    };

    const drawAll = () => {
      watching?.disconnect();
      draw(blocks.filter((block) => !block.drawn));
    };
    // Paper is as wide as entities.css says of `te-printing`, so that what is drawn fits.
    const beforePrint = () => {
      root.classList.add("te-printing");
      drawAll();
      redraw();
    };
    const afterPrint = () => {
      root.classList.remove("te-printing");
      redraw();
    };

    container.replaceChildren(root);
    for (const [name, listener] of Object.entries(listeners)) root.addEventListener(name, listener);
    window.addEventListener("beforeprint", beforePrint);
    window.addEventListener("afterprint", afterPrint);
    start(entities);
    sizes.observe(root);

    return {
      element: root,
      update(others) {
        point([]);
        start(others);
      },
      highlight,
      redraw,
      drawAll,
      destroy() {
        sizes.disconnect();
        watching?.disconnect();
        cancelAnimationFrame(waiting);
        window.removeEventListener("beforeprint", beforePrint);
        window.removeEventListener("afterprint", afterPrint);
        root.remove();
      },
    };
  }, { colourClass });
})();
