// Putting the views together: in a page, or as a widget of a notebook.

class Header {
  constructor(state, host) {
    this.state = state;
    this.toggles = el("div", { class: "pmx-fronts", role: "group", "aria-label": "Fronts" });
    this.families = el("div", { class: "pmx-fronts pmx-families", role: "group", "aria-label": "Families" });
    this.said = el("div", { class: "pmx-filters", role: "status" });
    this.clear = el("button", { type: "button", class: "pmx-button", text: "Clear (Esc)", onclick: () => state.clear() });
    this.root = el("header", { class: "pmx-head" }, ...[this.toggles, this.families, this.said, this.clear,
      new Saving(state).root, ...(host.refine ? steering(state, host) : [])].filter((part) => part !== null));
    if (state.several) this.toggles.append(...state.fronts.map((front, f) => this.toggle(front, f)));
    this.families.append(...state.families.map((name, i) => this.family(name, i)));
    this.show();
    state.listen((names) => {
      if (names.has("selected")) this.show();
    });
  }

  toggle(front, f) {
    const { state } = this;
    const box = el("input", { type: "checkbox", checked: true, onchange: () => {
      state.visible[f] = box.checked;
      state.changed("fronts");
    } });
    return el("label", { class: "pmx-front", "data-front": f, title: front.summary }, box,
      keyOf(FRONT_SHAPES[f], FRONT_COLOURS[f]), el("b", { text: front.name }), el("span", { class: "pmx-soft" }));
  }

  family(name, i) {
    const { state } = this;
    const box = el("input", { type: "checkbox", checked: true, onchange: () => state.setFamily(i, box.checked) });
    const size = state.familyOf.reduce((sum, family) => sum + (family === i ? 1 : 0), 0);
    // Beside other fronts the shapes are theirs.
    const shape = FRONT_SHAPES[state.several ? 0 : i % FRONT_SHAPES.length];
    return el("label", { class: "pmx-front", "data-family": name }, box,
      keyOf(shape, FRONT_COLOURS[i % FRONT_COLOURS.length]), el("b", { text: name }),
      el("span", { class: "pmx-soft", text: `${size} solution${size === 1 ? "" : "s"}` }));
  }

  show() {
    const { state } = this;
    for (const label of this.toggles.children) {
      const f = Number(label.dataset.front);
      const by = state.fronts.map((other, g) => [other.name, state.beats[g][f]]).filter(([, n]) => n);
      const size = state.fronts[f].values.length;
      label.querySelector("span").textContent = by.length
        ? `${size} points, ${by.map(([name, n]) => `${n} dominated by ${name}`).join(", ")}`
        : `${size} points, none dominated`;
    }
    [...this.families.children].forEach((label, i) => {
      label.querySelector("input").checked = state.wanted[i];
    });
    const said = state.limitsInWords();
    const size = state.size.toLocaleString("en-US");
    this.said.textContent = said.length
      ? `${state.count.toLocaleString("en-US")} of ${size} with ${said.join(" and ")}`
      : `${size} solution${state.size === 1 ? "" : "s"}; no limits`;
    this.clear.hidden = !state.filtered;
  }
}

/** An exploration as a file: limits, axes, shortlist and comments. */
class Saving {
  constructor(state) {
    this.said = el("span", { class: "pmx-soft", role: "status" });
    const file = el("input", { type: "file", accept: ".json,application/json", hidden: true,
      "aria-label": "exploration to open", onchange: () => this.read(state, file) });
    this.root = el("div", { class: "pmx-together pmx-saving" }, this.said,
      el("button", { type: "button", class: "pmx-button", text: "Save", title: "save limits, axes, shortlist and comments as a file",
        onclick: () => this.write(state) }),
      el("button", { type: "button", class: "pmx-button", text: "Open", title: "open a saved exploration",
        onclick: () => file.click() }), file);
  }

  write(state) {
    const text = JSON.stringify(state.exploration, null, 1);
    const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
    el("a", { href: address, download: "exploration.json" }).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
  }

  async read(state, file) {
    try {
      const missing = state.explore(JSON.parse(await file.files[0].text()));
      this.said.textContent = missing ? `${missing} of its entries are not in this front` : "";
    } catch (problem) {
      this.said.textContent = problem instanceof SyntaxError ? "this file is not an exploration" : String(problem.message);
    }
    file.value = "";
  }
}

/** What needs Python: searching on, and other weights. */
function steering(state, host) {
  const refining = new Refining(state, host);
  const weighing = state.data.weights.length ? new Weighing(state, host, refining) : null;
  return [refining.root, weighing?.root, state.data.note ? el("p", { class: "pmx-note", role: "status", text: state.data.note }) : null];
}

/** Searching on, near the solution in focus or everywhere. */
class Refining {
  constructor(state, host) {
    Object.assign(this, { state, host });
    this.bar = el("progress", { max: "1", value: "0", hidden: true, "aria-label": "progress of the search" });
    this.said = el("span", { class: "pmx-soft", role: "status", "data-refining": "said" });
    this.seconds = el("input", { type: "text", inputmode: "decimal", value: "10", size: "3", "aria-label": "seconds to search" });
    this.search = el("button", { type: "button", class: "pmx-button", "data-refining": "search", text: "Search here",
      title: "search on near the solution in focus", onclick: () => this.start(this.state.focus) });
    this.stop = el("button", { type: "button", class: "pmx-button", "data-refining": "stop", text: "Stop", hidden: true,
      title: "stop after this generation, and keep what was found", onclick: () => this.end() });
    this.undo = el("button", { type: "button", class: "pmx-button", "data-refining": "undo", text: "Undo",
      title: "take the last search, or the last weights, back", onclick: () => host.undo() });
    this.root = el("div", { class: "pmx-together pmx-refining" }, this.bar, this.said, this.search,
      el("label", { class: "pmx-check" }, this.seconds, "s"), this.stop, this.undo);
    this.listeners = [];
    host.onprogress = (share, text) => {
      this.bar.hidden = false;
      this.bar.value = share;
      this.said.textContent = this.ending ? "stopping after this generation …" : text;
    };
    host.onsearching = () => this.show();
    this.show();
    state.listen((names) => { if (names.has("focus")) this.show(); });
  }

  show() {
    const { state } = this;
    const known = state.focus !== null && state.fronts[state.frontOf[state.focus]].cards;
    const busy = this.busy === true || this.host.searching();
    this.search.disabled = !known || busy;
    this.stop.hidden = !busy;
    this.stop.disabled = this.ending === true;
    this.undo.hidden = !this.host.undoable();
    this.undo.disabled = busy;
    this.listeners.forEach((listener) => listener(busy));
  }

  end() {
    this.ending = true;
    this.said.textContent = "stopping after this generation …";
    this.show();
    this.host.stopSearch();
  }

  /** Searches near a solution; everywhere where there is none. */
  async start(id) {
    const seconds = Number(this.seconds.value);
    if (!(seconds > 0 && seconds <= 3600)) {
      this.said.textContent = "seconds: from 1 to 3600";
      return;
    }
    this.busy = true;
    this.ending = false;
    this.bar.hidden = false;
    this.said.textContent = "searching …";
    this.show();
    try {
      await this.host.refine(id, seconds); // the new front comes as data
      this.said.textContent = "";
    } catch (problem) {
      this.said.textContent = String(problem.message);
    }
    this.busy = false;
    this.bar.hidden = true;
    this.show();
  }
}

/** Weights of the columns: Python measures the same releases anew, and the front is ranked at once. */
class Weighing {
  constructor(state, host, refining) {
    Object.assign(this, { state, host, refining });
    this.fields = new Map(state.data.weights.map(([name, weight]) => [name, el("input", {
      type: "text", inputmode: "decimal", autocomplete: "off", value: String(weight), size: "4",
      "data-weight": name, "aria-label": `weight of ${name}`, onchange: () => this.apply(),
    })]));
    this.said = el("span", { class: "pmx-said", role: "status" });
    const button = (name, text, title, act) => el("button", { type: "button", class: "pmx-button", "data-weighing": name, text, title, onclick: act });
    this.even = button("even", "All 1", "count all columns alike", () => {
      for (const field of this.fields.values()) field.value = "1";
      this.apply();
    });
    this.search = button("search", "Search again", "search on everywhere, with these weights", () => refining.start(null));
    this.root = el("details", { class: "pmx-weights" }, el("summary", { text: "Weights" }),
      el("p", { class: "pmx-hint", text: "What a column loses counts by its weight. The front is ranked anew at once; a search with these weights may find more." }),
      el("div", { class: "pmx-weight-fields" }, ...[...this.fields].map(([name, field]) =>
        el("label", { class: "pmx-check" }, el("span", { class: "pmx-weight-name", text: name }), field))),
      el("div", { class: "pmx-controls" }, this.even, this.search, this.said));
    refining.listeners.push((busy) => {
      for (const part of [...this.fields.values(), this.even, this.search]) part.disabled = busy;
    });
    refining.show();
  }

  async apply() {
    const weights = {};
    for (const [name, field] of this.fields) {
      const weight = Number(field.value.trim().replace(",", "."));
      const wrong = field.value.trim() === "" || !Number.isFinite(weight) || weight < 0;
      field.setAttribute("aria-invalid", wrong ? "true" : "false");
      if (wrong) {
        this.said.textContent = `weight of ${name}: a number of at least 0`;
        return;
      }
      weights[name] = weight;
    }
    this.said.textContent = "measuring …";
    try {
      await this.host.weigh(weights); // the front comes as data
      this.said.textContent = "";
    } catch (problem) {
      this.said.textContent = String(problem.message);
    }
  }
}

/** What a colour and a shape stand for. */
function keyOf(shape, colour) {
  const key = el("canvas", { "aria-hidden": "true" });
  const context = fitted(key, 16, 16);
  context.beginPath();
  addShape(context, shape, 8, 8, 5);
  context.fillStyle = colour;
  context.fill();
  return key;
}

/** What a front offers, in sentences beside the picture. */
function adviceOf(state) {
  const fronts = state.fronts.filter((front) => front.advice.length);
  if (!fronts.length) return null;
  return el("details", { class: "pmx-panel pmx-advice", open: !state.several },
    el("summary", { text: "In words" }),
    ...fronts.flatMap((front) => [
      state.several ? el("h4", { text: front.name }) : null,
      ...front.advice.map(([title, text]) => el("p", {}, el("b", { text: `${title}: ` }), text)),
    ].filter((part) => part !== null)));
}

/**
 * Builds the explorer inside an element. The host answers card(id) and preview(id), and is told by
 * changed(name, value) of "focus", "selected" and "shortlist".
 */
function mount(element, data, host) {
  const root = el("div", { class: "pmx", tabindex: "0", role: "region",
    "aria-label": "Explorer of a front: left and right walk along it, up and down through the table, a pins, c compares, escape clears" });
  element.append(root);
  const state = new State(data);
  const theme = new Theme(root);
  const palette = new Palette(state, theme);
  state.listen((names) => {
    if (names.has("theme") || names.has("colour") || names.has("log")) palette.read();
  });
  const cards = new Cards(host);
  const live = el("div", { class: "pmx-live", "aria-live": "polite" });
  const header = new Header(state, host);
  const scatter = new Scatter(state, theme, palette);
  const parallel = new Parallel(state, theme, palette);
  const table = new SolutionTable(state);
  const card = new Card(state, cards, host);
  const shortlist = new Shortlist(state);
  const comparison = new Comparison(state, cards);
  root.append(header.root, el("div", { class: "pmx-grid" }, scatter.root, parallel.root, card.root,
    adviceOf(state), table.root, el("div", { class: "pmx-choice" }, shortlist.root, comparison.root)), live);

  state.listen((names) => {
    if (names.has("focus") && state.focus !== null) {
      live.textContent = `${state.name(state.focus)}: ${state.says(state.focus)}`;
    }
    if (names.has("focus")) host.changed("focus", state.focus);
    if (names.has("selected")) host.changed("selected", state.selected);
    if (names.has("shortlist")) host.changed("shortlist", [...state.shortlist]);
    if (["selected", "shortlist", "columns"].some((name) => names.has(name))) host.changed("exploration", state.exploration);
  });
  root.addEventListener("keydown", (event) => pressed(event, state, table));
  // What happens in here is not for the shortcuts of a notebook around it. Jupyter looks for this
  // attribute on the element in focus, before anything else gets the key.
  root.addEventListener("focusin", (event) => event.target.setAttribute("data-lm-suppress-shortcuts", "true"));
  for (const name of ["keydown", "keyup", "keypress"]) root.addEventListener(name, (event) => event.stopPropagation());

  const themed = () => { if (theme.read()) state.changed("theme"); };
  const watcher = new MutationObserver(themed);
  for (const node of [document.documentElement, document.body]) {
    watcher.observe(node, { attributes: true, attributeFilter: ["class", "data-jp-theme-light", "data-theme", "data-vscode-theme-kind"] });
  }
  const preference = window.matchMedia("(prefers-color-scheme: dark)");
  preference.addEventListener("change", themed);
  const sized = new ResizeObserver(() => { themed(); state.changed("size"); });
  for (const node of [scatter.box, parallel.plot, table.scroll]) sized.observe(node);
  state.changed("selected", "size");
  state.flush();

  const handle = { state, scatter, parallel, table, root, destroy() {
    watcher.disconnect();
    sized.disconnect();
    preference.removeEventListener("change", themed);
    clearTimeout(state.trying);
    root.remove();
  } };
  root.explorer = handle;
  return handle;
}

function pressed(event, state, table) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const writing = event.target.closest("input[type=text], textarea, select");
  if (writing) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  if (event.key.startsWith("Arrow") && event.target.closest(".pmx-preview")) return; // it scrolls
  const along = () => state.order(state.axes.x, false);
  const keys = {
    ArrowRight: () => state.step(along(), 1),
    ArrowLeft: () => state.step(along(), -1),
    ArrowDown: () => state.step(table.order, 1),
    ArrowUp: () => state.step(table.order, -1),
    a: () => state.pin(state.focus),
    c: () => state.compare(state.focus),
    Escape: () => state.clear(),
  };
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  if (!act) return;
  act();
  event.preventDefault();
}

/** The host of a page: everything is in the data. */
function pageHost(data) {
  const { cards } = data;
  const pick = data.fronts.findIndex((front) => front.pick !== null);
  const starts = data.fronts.map((_, f) => data.fronts.slice(0, f).reduce((n, one) => n + one.values.length, 0));
  const chosen = pick < 0 ? null : starts[pick] + data.fronts[pick].pick;
  return {
    changed() {},
    card(id) {
      const [group, place] = cards.places[id];
      const pack = cards.packs[group];
      const [words, loss, facts, sizes, next, lost] = pack.cards[place];
      return {
        words: Object.fromEntries(pack.attributes.map((name, j) =>
          [name, pack.lists[words[j]].map((label) => pack.labels[label]).join(" | ")])),
        lost: Object.fromEntries(pack.attributes.map((name, j) => [name, lost[j]])),
        loss: Object.fromEntries(pack.attributes.map((name, j) => [name, loss[j]])),
        facts: pack.facts.map((name, j) => [name, facts[j]]),
        sizes,
        next,
      };
    },
    preview(id) {
      if (id === chosen && data.preview) return data.preview;
      return { note: "This file holds rows of the pick only: rows of several solutions could be put together." };
    },
  };
}

/** The host of a notebook: cards and rows are computed in Python when they are asked for. */
function notebookHost(model) {
  const waiting = new Map();
  const listener = (message) => {
    if (message?.progress !== undefined) host.onprogress?.(message.progress, message.text);
    const answered = waiting.get(message?.request);
    if (!answered) return;
    waiting.delete(message.request);
    if (message.problem) answered.reject(new Error(message.problem));
    else answered.resolve(message.answer);
  };
  model.on("msg:custom", listener);
  let requests = 0;
  const own = Math.random().toString(36).slice(2); // several views of one widget hear all answers
  const ask = (kind, id, more = {}) => new Promise((resolve, reject) => {
    const request = `${own}-${requests += 1}`;
    waiting.set(request, { resolve, reject });
    model.send({ kind, id, request, ...more });
  });
  let timer;
  const later = new Map();
  const host = {
    card: (id) => ask("card", id),
    preview: (id) => ask("preview", id),
    refine: (id, seconds) => ask("refine", id, { seconds }),
    stopSearch: () => ask("stop", null).catch(() => undefined),
    weigh: (weights) => ask("weigh", null, { weights }),
    undo: () => ask("undo", null).catch(() => undefined),
    undoable: () => model.get("_undo") > 0,
    searching: () => model.get("_searching") === true,
    changed(name, value) {
      // What came from Python does not go back there.
      if (JSON.stringify(model.get(name)) === JSON.stringify(value)) return;
      later.set(name, value);
      clearTimeout(timer);
      timer = setTimeout(() => {
        for (const [key, last] of later) model.set(key, last);
        later.clear();
        model.save_changes();
      }, 40);
    },
    leave() {
      model.off("msg:custom", listener);
      model.off("change:_searching", searched);
    },
  };
  const searched = () => host.onsearching?.();
  model.on("change:_searching", searched);
  return host;
}

function render({ model, el: element }) {
  let shown = null;
  const names = ["focus", "shortlist", "selected", "exploration"];
  const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);
  const take = (name) => {
    const { state } = shown.handle;
    if (model.get("_data") !== shown.data) return; // a new front is on its way, and numbers are its
    const value = model.get(name);
    if (name === "focus") state.setFocus(value ?? null);
    else if (name === "shortlist" && !same([...state.shortlist], value)) state.setShortlist(value);
    else if (name === "selected" && !same(state.selected, value)) state.setOnly(value);
    else if (name === "exploration" && value.version && !same(state.exploration, value)) state.explore(value);
    state.flush();
  };
  const build = () => {
    const before = shown?.handle.state.exploration;
    const place = shown ? placeIn(shown.handle.root) : null;
    if (shown) {
      shown.host.leave();
      shown.handle.destroy();
    }
    const host = notebookHost(model);
    const data = model.get("_data");
    shown = { host, data, handle: mount(element, data, host) };
    // Limits and axes stay when a search brings a new front; what was chosen comes from Python.
    if (before) shown.handle.state.explore({ ...before, shortlist: [] });
    for (const name of before ? names.slice(0, 2) : names) take(name);
    if (place) restore(shown.handle.root, place);
  };
  build();
  const listeners = names.map((name) => () => take(name));
  names.forEach((name, i) => model.on(`change:${name}`, listeners[i]));
  // All that Python set with the data is there after this turn.
  const rebuild = () => setTimeout(build, 0);
  model.on("change:_data", rebuild);
  return () => {
    names.forEach((name, i) => model.off(`change:${name}`, listeners[i]));
    model.off("change:_data", rebuild);
    shown.host.leave();
    shown.handle.destroy();
  };
}

/** Where somebody is in the weights, so that a new front does not take the place away. */
function placeIn(root) {
  const weights = root.querySelector(".pmx-weights");
  const active = weights?.querySelector(":focus");
  return { open: weights?.open === true, field: active?.dataset.weight, button: active?.dataset.weighing };
}

function restore(root, { open, field, button }) {
  const weights = root.querySelector(".pmx-weights");
  if (!weights) return;
  weights.open = open;
  const active = [...weights.querySelectorAll("[data-weight], [data-weighing]")]
    .find((node) => (field ? node.dataset.weight === field : button && node.dataset.weighing === button));
  active?.focus({ preventScroll: true });
}

export default { render };
export { mount, pageHost };
