// Two objectives against each other.

const STEPS = 12;

/** Which colour every solution has, in few steps, so that one stroke draws many. */
class Palette {
  constructor(state, theme) {
    Object.assign(this, { state, theme });
    this.read();
  }

  read() {
    const { state, theme } = this;
    const by = state.axes.colour;
    this.step = new Uint8Array(state.size);
    this.scale = null;
    if (by === "front") {
      this.step.set(state.frontOf);
      this.colours = FRONT_COLOURS;
    } else if (by === "family") {
      // Solutions of a front without families, beside one that has them, stay in the plain colour.
      state.familyOf.forEach((family, id) => { this.step[id] = family + 1; });
      this.colours = [theme.accent, ...state.families.map((_, i) => FRONT_COLOURS[i % FRONT_COLOURS.length])];
    } else if (by === "none") {
      this.colours = [theme.accent];
    } else {
      this.scale = makeScale(state.columns[by], state.log[by], 0, STEPS - 1, true);
      this.colours = Array.from({ length: STEPS }, (_, i) => stepColour(i, STEPS, theme.dark));
      state.columns[by].forEach((v, id) => {
        this.step[id] = Number.isNaN(v) ? 0 : Math.round(this.scale(v));
      });
    }
  }

  of(id) {
    return this.colours[this.step[id]];
  }
}

class Scatter {
  constructor(state, theme, palette) {
    Object.assign(this, { state, theme, palette });
    this.grey = true;
    this.canvas = el("canvas", { "aria-hidden": "true" });
    this.top = el("canvas", { class: "pmx-top", role: "img", tabindex: "0" });
    this.box = el("div", { class: "pmx-plot pmx-scatter-plot" }, this.canvas, this.top);
    this.tip = new Tip(this.box);
    this.legend = el("div", { class: "pmx-legend" });
    this.root = el("section", { class: "pmx-panel pmx-scatter", "aria-label": "Trade-off of two quantities" },
      this.controls(), this.box, this.legend);
    this.top.addEventListener("pointermove", (event) => this.moved(event));
    this.top.addEventListener("pointerleave", () => { state.setHover(null); this.tip.hide(); });
    this.top.addEventListener("pointerdown", (event) => this.pressed(event));
    this.top.addEventListener("pointerup", (event) => this.released(event));
    this.top.addEventListener("pointercancel", () => { this.drag = null; this.drawTop(); });
    this.top.addEventListener("dblclick", () => {
      for (const j of [state.axes.x, state.axes.y]) state.setRange(j, null, null);
    });
    state.listen((names) => this.update(names));
  }

  controls() {
    const { state } = this;
    const choose = (axis, label, extra) => {
      const options = state.quantities.map((q, j) => el("option", { value: j, text: q.label }));
      extra.forEach(([value, text]) => options.unshift(el("option", { value, text })));
      const select = el("select", {
        "aria-label": label,
        onchange: () => {
          const value = select.value;
          state.axes[axis] = Number.isNaN(Number(value)) ? value : Number(value);
          state.changed(axis === "colour" ? "colour" : "axes");
        },
      }, ...options);
      select.value = state.axes[axis];
      return select;
    };
    const log = (axis) => {
      const box = el("input", {
        type: "checkbox",
        "aria-label": `logarithmic ${axis === "x" ? "horizontal" : "vertical"} axis`,
        onchange: () => {
          state.log[state.axes[axis]] = box.checked;
          state.changed("axes", "log");
        },
      });
      this[`log_${axis}`] = box;
      return el("label", { class: "pmx-check" }, box, "log");
    };
    const extra = [["none", "one colour"]];
    if (state.families.length) extra.push(["family", "family"]);
    if (state.several) extra.push(["front", "front"]);
    const shown = el("input", {
      type: "checkbox",
      checked: true,
      onchange: () => { this.grey = shown.checked; state.changed("axes"); },
    });
    const beside = state.fronts.some((f) => f.dominated.length + f.infeasible.length);
    return el("div", { class: "pmx-controls" },
      el("span", { class: "pmx-together" }, "across", choose("x", "horizontal axis", []), log("x")),
      el("span", { class: "pmx-together" }, "up", choose("y", "vertical axis", []), log("y")),
      el("span", { class: "pmx-together" }, "colour", choose("colour", "colour by", extra)),
      beside ? el("label", { class: "pmx-check" }, shown, "grey points") : null);
  }

  update(names) {
    const { state } = this;
    if (!this.box.clientWidth) { // hidden
      state.missed(names);
      return;
    }
    const drawn = ["size", "theme", "axes", "log", "colour", "selected"].some((name) => names.has(name));
    if (drawn) this.draw();
    if (drawn || names.has("focus") || names.has("hover") || names.has("shortlist")) this.drawTop();
  }

  measure() {
    const { state } = this;
    this.width = Math.max(this.box.clientWidth, 200);
    this.height = Math.max(this.box.clientHeight, 200);
    const { x, y } = state.axes;
    const inside = (axis) => {
      const shown = [];
      for (let i = 0; i < state.size; i += 1) if (state.visible[state.frontOf[i]]) shown.push(state.columns[axis][i]);
      return shown;
    };
    // Grey points may lie far out: they are drawn where they fall inside.
    const beside = (axis) => {
      const place = state.objectives.indexOf(axis);
      if (!this.grey || place < 0) return [];
      return state.fronts.filter((_, f) => state.visible[f])
        .flatMap((front) => [...front.dominated, ...front.infeasible].map((row) => row[place]))
        .filter((v) => v !== null && (!state.log[axis] || v > 0));
    };
    this.x = makeScale(inside(x), state.log[x], 58, this.width - 14, false, beside(x));
    this.y = makeScale(inside(y), state.log[y], this.height - 42, 12, false, beside(y));
    this.log_x.checked = this.x.logarithmic;
    this.log_y.checked = this.y.logarithmic;
  }

  spot(id) {
    const { x, y } = this.state.axes;
    return [this.x(this.state.columns[x][id]), this.y(this.state.columns[y][id])];
  }

  draw() {
    const { state, theme } = this;
    this.measure();
    const context = fitted(this.canvas, this.width, this.height);
    this.drawAxes(context);
    context.save();
    context.beginPath();
    context.rect(52, 6, this.width - 60, this.height - 42);
    context.clip();
    if (this.grey) this.drawGrey(context);
    const r = state.size > 600 ? 3.2 : 4.2;
    for (const chosen of [0, 1]) {
      const paths = new Map();
      for (let id = 0; id < state.size; id += 1) {
        if (state.mask[id] !== chosen || !state.visible[state.frontOf[id]]) continue;
        const [px, py] = this.spot(id);
        if (Number.isNaN(px) || Number.isNaN(py)) continue;
        const hollow = state.several && state.beaten[id];
        const key = `${chosen ? this.palette.of(id) : theme.grey}|${hollow ? 1 : 0}`;
        if (!paths.has(key)) paths.set(key, new Path2D());
        addShape(paths.get(key), state.shape(id), px, py, chosen ? r : r - 0.8);
      }
      context.globalAlpha = chosen ? 0.9 : 0.6;
      context.lineWidth = 1.3;
      for (const [key, path] of paths) {
        const [colour, hollow] = key.split("|");
        if (hollow === "1") {
          context.strokeStyle = colour;
          context.stroke(path);
        } else {
          context.fillStyle = colour;
          context.fill(path);
        }
      }
    }
    context.restore();
    this.drawLegend();
  }

  drawGrey(context) {
    const { state, theme } = this;
    const at = (j) => state.objectives.indexOf(j);
    const [x, y] = [at(state.axes.x), at(state.axes.y)];
    if (x < 0 || y < 0) return; // only objectives are known of them
    state.fronts.forEach((front, f) => {
      if (!state.visible[f]) return;
      context.fillStyle = theme.grey;
      context.globalAlpha = 0.45;
      for (const row of front.dominated) context.fillRect(this.x(row[x]) - 1, this.y(row[y]) - 1, 2, 2);
      context.strokeStyle = theme.never;
      context.globalAlpha = 0.6;
      context.lineWidth = 1;
      context.beginPath();
      for (const row of front.infeasible) {
        const [px, py] = [this.x(row[x]), this.y(row[y])];
        context.moveTo(px - 2, py - 2);
        context.lineTo(px + 2, py + 2);
        context.moveTo(px + 2, py - 2);
        context.lineTo(px - 2, py + 2);
      }
      context.stroke();
    });
  }

  drawAxes(context) {
    const { state, theme } = this;
    const [qx, qy] = [state.quantities[state.axes.x], state.quantities[state.axes.y]];
    const bottom = this.height - 36;
    context.font = theme.small;
    context.fillStyle = theme.soft;
    context.strokeStyle = theme.line;
    context.lineWidth = 1;
    context.textAlign = "center";
    for (const tick of this.x.ticks(Math.floor(this.width / 90))) {
      const px = Math.round(this.x(tick)) + 0.5;
      context.beginPath();
      context.moveTo(px, 6);
      context.lineTo(px, bottom);
      context.stroke();
      context.fillText(tickText(qx, tick), px, bottom + 14);
    }
    context.textAlign = "right";
    for (const tick of this.y.ticks(Math.floor(this.height / 45))) {
      const py = Math.round(this.y(tick)) + 0.5;
      context.beginPath();
      context.moveTo(52, py);
      context.lineTo(this.width - 8, py);
      context.stroke();
      context.fillText(tickText(qy, tick), 47, py + 4);
    }
    context.fillStyle = theme.ink;
    context.font = theme.font;
    const better = (q) => (q.sense === "min" ? "less is better" : "more is better");
    context.textAlign = "center";
    context.fillText(`${qx.label}, ${better(qx)}`, (52 + this.width) / 2, this.height - 5);
    context.save();
    context.translate(11, (this.height - 36) / 2);
    context.rotate(-Math.PI / 2);
    context.fillText(`${qy.label}, ${better(qy)}`, 0, 0);
    context.restore();
  }

  drawTop() {
    const { state, theme } = this;
    const context = fitted(this.top, this.width, this.height);
    const ring = (id, radius, colour, width) => {
      const [px, py] = this.spot(id);
      if (Number.isNaN(px)) return;
      context.beginPath();
      context.arc(px, py, radius, 0, 2 * Math.PI);
      context.strokeStyle = theme.bg;
      context.lineWidth = width + 2;
      context.stroke();
      context.strokeStyle = colour;
      context.lineWidth = width;
      context.stroke();
    };
    const mark = (id, shape, colour, text) => {
      const [px, py] = this.spot(id);
      context.beginPath();
      addShape(context, shape, px, py, 8);
      context.fillStyle = colour;
      context.strokeStyle = theme.bg;
      context.lineWidth = 1.5;
      context.fill();
      context.stroke();
      context.font = `600 ${theme.small}`;
      const right = px + 14 + context.measureText(text).width > this.width;
      context.textAlign = right ? "right" : "left";
      context.lineWidth = 3;
      const height = Math.max(py - 8, 12);
      context.strokeText(text, px + (right ? -12 : 12), height);
      context.fillText(text, px + (right ? -12 : 12), height);
    };
    state.fronts.forEach((front, f) => {
      if (!state.visible[f]) return;
      const star = front.pick ?? front.suggested;
      const name = front.pick === null ? "suggested" : "pick";
      const both = front.knee === star;
      if (front.knee !== null) mark(state.starts[f] + front.knee, "diamond", theme.mark, both ? "" : "knee");
      if (star !== null) mark(state.starts[f] + star, "star", theme.pick, both ? `${name}, knee` : name);
    });
    this.drawLinks(context);
    for (const id of state.fresh.keys()) if (state.visible[state.frontOf[id]]) ring(id, 5, theme.accent, 1);
    for (const id of state.shortlist.keys()) if (state.visible[state.frontOf[id]]) ring(id, 6, theme.pick, 1.5);
    if (state.focus !== null) ring(state.focus, 9, theme.ink, 2.5);
    if (state.hover !== null && state.hover !== state.focus) ring(state.hover, 8, theme.soft, 1.5);
    if (this.drag?.to) this.drawBox(context);
    const { x, y } = state.axes;
    this.top.setAttribute("aria-label",
      `${state.quantities[y].label} against ${state.quantities[x].label} of ${state.count} selected solutions`
      + `${state.focus === null ? "" : `; in focus: ${state.name(state.focus)}, ${state.says(state.focus)}`}`
      + "; the table below has the same figures");
  }

  /** Lines from new solutions to the earlier ones that they are near to. */
  drawLinks(context) {
    const { state, theme } = this;
    const [x, y] = [state.axes.x, state.axes.y].map((j) => state.objectives.indexOf(j));
    if (x < 0 || y < 0) return; // only objectives are known of earlier solutions
    context.save();
    context.beginPath();
    context.rect(52, 6, this.width - 60, this.height - 42);
    context.clip();
    context.strokeStyle = theme.accent;
    context.lineWidth = 1;
    context.globalAlpha = 0.7;
    context.beginPath();
    for (const [id, { earlier }] of state.fresh) {
      if (!state.visible[state.frontOf[id]]) continue;
      const [px, py] = [this.x(earlier[x]), this.y(earlier[y])];
      context.moveTo(...this.spot(id));
      context.lineTo(px, py);
      context.moveTo(px + 2.5, py);
      context.arc(px, py, 2.5, 0, 2 * Math.PI);
    }
    context.stroke();
    context.restore();
  }

  drawLegend() {
    const { state, palette } = this;
    const by = state.axes.colour;
    const parts = [];
    if (palette.scale) {
      const q = state.quantities[by];
      const bar = el("canvas", { "aria-hidden": "true" });
      const context = fitted(bar, 120, 10);
      palette.colours.forEach((colour, i) => {
        context.fillStyle = colour;
        context.fillRect(i * 10, 0, 10, 10);
      });
      parts.push(el("span", { text: `${q.words} ${write(q, palette.scale.low)}` }), bar,
        el("span", { text: write(q, palette.scale.high) }));
    }
    const known = [state.axes.x, state.axes.y].every((j) => state.objectives.includes(j));
    const grey = (name) => this.grey && known && state.fronts.some((f, i) => state.visible[i] && f[name].length);
    if (grey("dominated")) parts.push(el("span", { class: "pmx-key-dot", text: "dominated" }));
    if (grey("infeasible")) parts.push(el("span", { class: "pmx-key-never", text: "not allowed" }));
    if (state.several) parts.push(el("span", { text: "hollow: dominated by another front" }));
    if (state.fresh.size) parts.push(el("span", { text: "ringed: new, with a line to an earlier solution" }));
    this.legend.replaceChildren(...parts);
  }

  nearest(event) {
    const { state } = this;
    const box = this.top.getBoundingClientRect();
    const [mx, my] = [event.clientX - box.left, event.clientY - box.top];
    let best = null;
    let least = 14 ** 2;
    for (let id = 0; id < state.size; id += 1) {
      if (!state.visible[state.frontOf[id]]) continue;
      const [px, py] = this.spot(id);
      const distance = (px - mx) ** 2 + (py - my) ** 2 + (state.mask[id] ? 0 : 36);
      if (distance < least) [best, least] = [id, distance];
    }
    return best;
  }

  // A box selects

  at(event) {
    const box = this.top.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  pressed(event) {
    if (event.button !== 0) return;
    this.drag = { from: this.at(event), to: null };
    this.top.setPointerCapture(event.pointerId);
  }

  released(event) {
    const { drag, state } = this;
    this.drag = null;
    if (!drag || drag.to === null) {
      const id = this.nearest(event);
      if (id !== null) state.setFocus(id);
      return;
    }
    const ends = (scale, i) => {
      const [a, b] = [drag.from[i], drag.to[i]].map((pixel) => scale.invert(pixel)).sort((p, q) => p - q);
      const step = 10 ** Math.floor(Math.log10(Math.abs(scale.invert(drag.to[i] + 1) - scale.invert(drag.to[i])) || 1e-12));
      return [a, b].map((v) => Number((Math.round(v / step) * step).toPrecision(12)));
    };
    // An end beyond all points is not a limit.
    const open = (scale, [low, high]) => [low <= scale.low ? null : low, high >= scale.high ? null : high];
    state.setRange(state.axes.x, ...open(this.x, ends(this.x, 0)));
    if (state.axes.y !== state.axes.x) state.setRange(state.axes.y, ...open(this.y, ends(this.y, 1)));
    this.drawTop();
  }

  drawBox(context) {
    const [[x, y], [right, bottom]] = [this.drag.from, this.drag.to];
    context.save();
    context.fillStyle = this.theme.mark;
    context.globalAlpha = 0.15;
    context.fillRect(x, y, right - x, bottom - y);
    context.globalAlpha = 1;
    context.strokeStyle = this.theme.mark;
    context.lineWidth = 1.5;
    context.strokeRect(x, y, right - x, bottom - y);
    context.restore();
  }

  moved(event) {
    if (this.drag) {
      const place = this.at(event);
      const far = Math.hypot(place[0] - this.drag.from[0], place[1] - this.drag.from[1]) >= 6;
      if (!far && this.drag.to === null) return;
      this.drag.to = place;
      this.tip.hide();
      this.drawTop();
      return;
    }
    const id = this.nearest(event);
    this.state.setHover(id);
    const box = this.top.getBoundingClientRect();
    if (id === null) this.tip.hide();
    else this.tip.show(this.state.tip(id), event.clientX - box.left, event.clientY - box.top);
    this.top.style.cursor = id === null ? "default" : "pointer";
  }
}
