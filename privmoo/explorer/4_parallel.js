// All quantities side by side, one line per solution, a brush and two numbers on every axis.

class Parallel {
  constructor(state, theme, palette) {
    Object.assign(this, { state, theme, palette });
    this.all = state.quantities.map((q, j) => j).filter((j) => {
      const known = state.columns[j].filter((v) => !Number.isNaN(v));
      return state.quantities[j].objective || known.some((v) => v !== known[0]);
    });
    // The share and the number of the records left out are one axis.
    if (this.all.some((j) => state.quantities[j].key === "suppression")) {
      this.all = this.all.filter((j) => state.quantities[j].key !== "records_suppressed");
    }
    state.setColumns(this.all);
    this.under = el("canvas", { "aria-hidden": "true" });
    this.lines = el("canvas", { class: "pmx-top", "aria-hidden": "true" });
    this.top = el("canvas", { class: "pmx-top", role: "img", tabindex: "0" });
    this.plot = el("div", { class: "pmx-plot pmx-parallel-plot" }, this.under, this.lines, this.top);
    this.tip = new Tip(this.plot);
    this.inputs = new Map();
    this.limits = el("div", { class: "pmx-limits", role: "group", "aria-label": "Limits" });
    this.wide = el("div", { class: "pmx-wide" }, this.plot, this.limits);
    this.hidden = el("div", { class: "pmx-hidden", role: "group", "aria-label": "Hidden axes" });
    this.arrange();
    this.said = el("span", { class: "pmx-said", role: "status" });
    this.root = el("section", { class: "pmx-panel pmx-parallel", "aria-label": "All quantities" },
      el("div", { class: "pmx-controls" }, el("span", { class: "pmx-hint",
        text: "Drag along an axis to select, double click to clear; or write limits below: 25 %, 5" })),
      el("div", { class: "pmx-scroll", tabindex: "-1" }, this.wide), this.hidden, this.said);
    this.top.addEventListener("pointerdown", (event) => this.pressed(event));
    this.top.addEventListener("pointermove", (event) => this.moved(event));
    this.top.addEventListener("pointerup", (event) => this.released(event));
    this.top.addEventListener("pointercancel", () => { this.drag = null; });
    this.top.addEventListener("pointerleave", () => { state.setHover(null); this.tip.hide(); });
    this.top.addEventListener("dblclick", (event) => {
      const axis = this.axisAt(event);
      if (axis !== null) state.setRange(axis, null, null);
    });
    state.listen((names) => this.update(names));
  }

  /** The axes in their order, those that were hidden left out. */
  get axes() {
    return this.state.shownColumns;
  }

  /** Puts limits and buttons below the axes, in their order. */
  arrange() {
    const { state } = this;
    const cells = this.axes.map((j) => this.cells?.get(j) ?? this.limit(j));
    this.cells ??= new Map();
    this.axes.forEach((j, i) => this.cells.set(j, cells[i]));
    this.limits.replaceChildren(...cells);
    this.wide.style.minWidth = `${this.axes.length * 76}px`;
    const away = this.all.filter((j) => state.hiddenColumns.has(j));
    this.hidden.replaceChildren(...away.map((j) => el("button", { type: "button", class: "pmx-button",
      "data-show": state.quantities[j].key, text: `+ ${state.quantities[j].words}`,
      title: `show ${state.quantities[j].label}`, onclick: () => state.hideColumn(j, false) })));
    this.hidden.hidden = !away.length;
    this.spots = undefined;
  }

  buttons(j) {
    const { state } = this;
    const q = state.quantities[j];
    const button = (name, text, label, act) => el("button", { type: "button", class: "pmx-axis", text,
      "data-axis": `${name}_${q.key}`, title: `${label} ${q.label}`, "aria-label": `${label} ${q.label}`,
      onclick: (event) => {
        act();
        state.flush();
        // The button goes along with its axis, and keeps the focus.
        if (event.currentTarget?.isConnected) event.currentTarget.focus();
      } });
    return el("div", { class: "pmx-axes" }, button("left", "◂", "move to the left:", () => state.moveColumn(j, -1)),
      button("hide", "✕", "hide:", () => state.hideColumn(j, true)),
      button("right", "▸", "move to the right:", () => state.moveColumn(j, 1)));
  }

  limit(j) {
    const { state } = this;
    const q = state.quantities[j];
    const field = (side) => {
      const input = el("input", {
        type: "text",
        inputmode: "decimal",
        autocomplete: "off",
        spellcheck: "false",
        "data-limit": `${side}_${q.key}`,
        placeholder: side === "min" ? "≥" : "≤",
        "aria-label": `${q.label}: ${side === "min" ? "at least" : "at most"}`,
        onchange: () => this.typed(j),
        onkeydown: (event) => {
          if (event.key === "Enter") this.typed(j);
        },
      });
      return input;
    };
    const both = { min: field("min"), max: field("max") };
    this.inputs.set(j, both);
    return el("div", { class: "pmx-limit" }, both.min, both.max, this.buttons(j));
  }

  typed(j) {
    const q = this.state.quantities[j];
    const { min, max } = this.inputs.get(j);
    const before = this.state.ranges[j] ?? { min: null, max: null };
    const [low, high] = [[min, before.min], [max, before.max]].map(([input, old]) => {
      // A limit that was brushed is finer than it is written.
      if (old !== null && input.value === write(q, old)) return old;
      const read = parseLimit(q, input.value);
      const wrong = read !== null && read.problem !== undefined;
      input.setAttribute("aria-invalid", wrong ? "true" : "false");
      input.title = wrong ? `${q.label}: ${read.problem}` : "";
      if (wrong) this.said.textContent = `${q.words}: ${read.problem}`;
      if (wrong) return old;
      return read === null ? null : read.value;
    });
    if ([min, max].every((input) => input.getAttribute("aria-invalid") !== "true")) {
      this.said.textContent = "";
    }
    this.state.setRange(j, low, high);
  }

  update(names) {
    const { state } = this;
    const all = ["size", "theme", "log", "fronts", "columns"].some((name) => names.has(name));
    if (names.has("columns")) this.arrange();
    if (names.has("cleared")) this.forget();
    if (names.has("selected")) this.showLimits();
    if (!this.plot.clientWidth) { // hidden
      state.missed(names);
      return;
    }
    if (all || names.has("selected") || names.has("colour")) this.draw(all);
    if (all || ["selected", "focus", "hover"].some((name) => names.has(name))) this.drawTop();
  }

  /** What was typed wrongly goes with the limits. */
  forget() {
    for (const both of this.inputs.values()) {
      for (const input of [both.min, both.max]) {
        input.setAttribute("aria-invalid", "false");
        input.title = "";
      }
    }
    this.said.textContent = "";
  }

  showLimits() {
    for (const [j, both] of this.inputs) {
      const range = this.state.ranges[j];
      for (const side of ["min", "max"]) {
        const input = both[side];
        const value = range === null ? null : range[side];
        if (input.getAttribute("aria-invalid") === "true" && input.value) continue;
        input.value = value === null ? "" : write(this.state.quantities[j], value);
        input.classList.toggle("pmx-set", value !== null);
      }
    }
  }

  measure() {
    const { state } = this;
    this.width = Math.max(this.plot.clientWidth, 200);
    this.height = Math.max(this.plot.clientHeight, 160);
    const gap = this.width / this.axes.length;
    this.places = this.axes.map((_, i) => gap * (i + 0.5));
    const context = this.top.getContext("2d");
    const lines = this.axes.map((j) => {
      const q = state.quantities[j];
      context.font = `${q.objective ? "600 " : ""}${this.theme.font}`;
      return wrapped(context, q.percent ? `${q.words} (%)` : q.words, gap - 6, Infinity).length;
    });
    this.titleLines = Math.max(...lines, 1);
    this.above = 31 + 13 * this.titleLines; // where the axes begin
    this.scales = this.axes.map((j) =>
      makeScale(state.columns[j], state.log[j], this.height - 14, this.above, true));
    this.spots = this.axes.map((j, i) => {
      const spots = new Float32Array(state.size);
      for (let id = 0; id < state.size; id += 1) spots[id] = this.scales[i](state.columns[j][id]);
      return spots;
    });
  }

  trace(path, id) {
    let open = false;
    for (let i = 0; i < this.places.length; i += 1) {
      const y = this.spots[i][id];
      if (Number.isNaN(y)) open = false;
      else if (open) path.lineTo(this.places[i], y);
      else {
        path.moveTo(this.places[i], y);
        open = true;
      }
    }
  }

  draw(all) {
    const { state, theme, palette } = this;
    if (all || !this.spots) {
      this.measure();
      const context = fitted(this.under, this.width, this.height);
      context.strokeStyle = theme.grey;
      context.globalAlpha = Math.min(0.5, Math.max(0.1, 60 / state.size));
      context.lineWidth = 1;
      for (let id = 0; id < state.size; id += 1) {
        if (!state.visible[state.frontOf[id]]) continue;
        context.beginPath();
        this.trace(context, id);
        context.stroke();
      }
    }
    const context = fitted(this.lines, this.width, this.height);
    context.globalAlpha = Math.min(0.9, Math.max(0.3, 150 / Math.max(state.count, 1)));
    context.lineWidth = state.count > 300 ? 1 : 1.4;
    let last = null;
    for (let id = 0; id < state.size; id += 1) {
      if (!state.mask[id]) continue;
      const colour = palette.of(id);
      if (colour !== last) context.strokeStyle = last = colour;
      context.beginPath();
      this.trace(context, id);
      context.stroke();
    }
  }

  drawTop() {
    const { state, theme } = this;
    if (!this.spots) return;
    const context = fitted(this.top, this.width, this.height);
    const line = (id, colour, width) => {
      context.lineJoin = "round";
      for (const [style, extra] of [[theme.bg, 3], [colour, 0]]) {
        context.beginPath();
        this.trace(context, id);
        context.strokeStyle = style;
        context.lineWidth = width + extra;
        context.stroke();
      }
    };
    if (state.hover !== null && state.hover !== state.focus) line(state.hover, theme.soft, 1.5);
    if (state.focus !== null) line(state.focus, theme.ink, 2.5);
    this.axes.forEach((j, i) => this.drawAxis(context, j, i)); // ticks can be read above all lines
    const said = state.limitsInWords();
    this.top.setAttribute("aria-label",
      `Parallel coordinates of ${this.axes.map((j) => state.quantities[j].words).join(", ")}; `
      + `${state.count} of ${state.size} solutions selected${said.length ? ` by ${said.join(", ")}` : ""}`);
  }

  drawAxis(context, j, i) {
    const { state, theme } = this;
    const q = state.quantities[j];
    const x = Math.round(this.places[i]) + 0.5;
    const gap = this.width / this.axes.length;
    context.strokeStyle = theme.soft;
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(x, this.above);
    context.lineTo(x, this.height - 14);
    context.stroke();
    context.textAlign = "center";
    context.fillStyle = theme.ink;
    context.font = `${q.objective ? "600 " : ""}${theme.font}`;
    const title = wrapped(context, q.percent ? `${q.words} (%)` : q.words, gap - 6, this.titleLines);
    title.forEach((line, n) => context.fillText(line, x, 14 + 13 * (this.titleLines - title.length + n)));
    context.font = theme.small;
    context.fillStyle = theme.soft;
    context.fillText(q.sense === "max" ? "↑ better" : "↓ better", x, this.above - 15);
    context.textAlign = "left";
    const space = Math.floor((this.height - this.above - 16) / 44);
    for (const tick of this.scales[i].ticks(space)) {
      const y = this.scales[i](tick);
      context.strokeStyle = theme.bg;
      context.lineWidth = 3;
      context.strokeText(tickText(q, tick), x + 6, y + 4);
      context.fillText(tickText(q, tick), x + 6, y + 4);
      context.strokeStyle = theme.soft;
      context.lineWidth = 1;
      context.beginPath();
      context.moveTo(x - 3, y);
      context.lineTo(x + 3, y);
      context.stroke();
    }
    const range = state.ranges[j];
    if (range === null) return;
    const [high, low] = this.ends(i, range);
    context.fillStyle = theme.mark;
    context.globalAlpha = 0.3;
    context.fillRect(x - 7, high, 14, Math.max(low - high, 2));
    context.globalAlpha = 1;
    context.strokeStyle = theme.mark;
    context.lineWidth = 1.5;
    context.strokeRect(x - 7, high, 14, Math.max(low - high, 2));
  }

  /** Upper and lower end of a brush, in pixels. */
  ends(i, range) {
    const scale = this.scales[i];
    const [top, bottom] = [this.above, this.height - 14];
    const at = (v, open) => {
      const y = v === null || (scale.logarithmic && v <= 0) ? open : scale(v);
      return Math.min(Math.max(y, top - 6), bottom + 6);
    };
    return [at(range.max, top - 6), at(range.min, bottom + 6)];
  }

  // The pointer

  at(event) {
    const box = this.top.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  axisAt(event) {
    const [x] = this.at(event);
    const i = Math.min(Math.max(Math.floor((x / this.width) * this.axes.length), 0), this.axes.length - 1);
    return Math.abs(x - this.places[i]) <= 16 ? this.axes[i] : null;
  }

  pressed(event) {
    const axis = this.axisAt(event);
    if (axis === null || event.button !== 0) return;
    const [, y] = this.at(event);
    const i = this.axes.indexOf(axis);
    const range = this.state.ranges[axis];
    const [high, low] = range ? this.ends(i, range) : [0, 0];
    const inside = range !== null && y >= high && y <= low;
    this.drag = { axis, i, from: y, moves: inside ? [high, low] : null, open: range, done: false };
    this.top.setPointerCapture(event.pointerId);
  }

  moved(event) {
    const [x, y] = this.at(event);
    if (!this.drag) {
      const axis = this.axisAt(event);
      const id = this.lineAt(x, y);
      this.top.style.cursor = axis !== null ? "crosshair" : id !== null ? "pointer" : "default";
      this.state.setHover(id);
      if (id === null || axis !== null) this.tip.hide();
      else this.tip.show(this.state.tip(id), x, y);
      return;
    }
    const { axis, i, from, moves, open } = this.drag;
    if (!this.drag.done && Math.abs(y - from) < 4) return;
    this.drag.done = true;
    this.tip.hide();
    const [high, low] = moves ? moves.map((end) => end + y - from) : [Math.min(from, y), Math.max(from, y)];
    const scale = this.scales[i];
    // An end beyond the axis is not a limit, and does not become one when the brush is moved.
    const free = (side) => moves !== null && open[side] === null;
    // As fine as a pixel: a front may lie between 20,001 and 20,009.
    const fine = (at) => {
      const step = 10 ** Math.floor(Math.log10(Math.abs(scale.invert(at) - scale.invert(at + 1)) || 1e-12));
      return Number((Math.round(scale.invert(at) / step) * step).toPrecision(12));
    };
    const max = free("max") || high <= this.above ? null : fine(high);
    const min = free("min") || low >= this.height - 14 ? null : fine(low);
    this.state.setRange(axis, min, max);
  }

  released(event) {
    const { drag } = this;
    this.drag = null;
    if (drag && drag.done) return;
    const id = this.lineAt(...this.at(event));
    if (id !== null) this.state.setFocus(id);
  }

  /** The selected line that passes nearest to a point. */
  lineAt(x, y) {
    const { state, places, spots } = this;
    if (!spots || x < places[0] || x > places[places.length - 1]) return null;
    let i = 0;
    while (i < places.length - 2 && places[i + 1] < x) i += 1;
    if (places.length < 2) return null;
    const share = (x - places[i]) / (places[i + 1] - places[i]);
    let best = null;
    let least = 7;
    for (let id = 0; id < state.size; id += 1) {
      if (!state.mask[id]) continue;
      const distance = Math.abs(spots[i][id] * (1 - share) + spots[i + 1][id] * share - y);
      if (distance < least) [best, least] = [id, distance];
    }
    return best;
  }
}

/** The lines of a text that fits a width: broken between words, in words only if one is too long. */
function wrapped(context, text, width, most = 4) {
  const lines = [];
  const fits = (part) => context.measureText(part).width <= width;
  for (const word of text.split(" ")) {
    const last = lines[lines.length - 1];
    if (last !== undefined && fits(`${last} ${word}`)) {
      lines[lines.length - 1] = `${last} ${word}`;
      continue;
    }
    let rest = word;
    while (!fits(rest) && rest.length > 2) {
      let n = Math.max(rest.length - 3, 2); // no single letter on a line of its own
      while (n > 1 && !fits(`${rest.slice(0, n)}-`)) n -= 1;
      lines.push(`${rest.slice(0, n)}-`);
      rest = rest.slice(n);
    }
    lines.push(rest);
  }
  return lines.slice(0, most);
}
