// Putting the views together: in a page, or as a widget of a notebook.

class Header {
  constructor(state) {
    this.state = state;
    this.toggles = el("div", { class: "pmx-fronts", role: "group", "aria-label": "Fronts" });
    this.families = el("div", { class: "pmx-fronts pmx-families", role: "group", "aria-label": "Families" });
    this.said = el("div", { class: "pmx-filters", role: "status" });
    this.clear = el("button", { type: "button", class: "pmx-button", text: "Clear (Esc)", onclick: () => state.clear() });
    this.root = el("header", { class: "pmx-head" }, this.toggles, this.families, this.said, this.clear);
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
  const header = new Header(state);
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
    const answered = waiting.get(message?.request);
    if (!answered) return;
    waiting.delete(message.request);
    if (message.problem) answered.reject(new Error(message.problem));
    else answered.resolve(message.answer);
  };
  model.on("msg:custom", listener);
  let requests = 0;
  const own = Math.random().toString(36).slice(2); // several views of one widget hear all answers
  const ask = (kind, id) => new Promise((resolve, reject) => {
    const request = `${own}-${requests += 1}`;
    waiting.set(request, { resolve, reject });
    model.send({ kind, id, request });
  });
  let timer;
  const later = new Map();
  const host = {
    card: (id) => ask("card", id),
    preview: (id) => ask("preview", id),
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
    stop: () => model.off("msg:custom", listener),
  };
  return host;
}

function render({ model, el: element }) {
  const host = notebookHost(model);
  const handle = mount(element, model.get("_data"), host);
  const { state } = handle;
  const take = (name) => {
    const value = model.get(name);
    if (name === "focus") state.setFocus(value ?? null);
    else if (name === "shortlist" && JSON.stringify([...state.shortlist]) !== JSON.stringify(value)) state.setShortlist(value);
    else if (name === "selected" && JSON.stringify(state.selected) !== JSON.stringify(value)) state.setOnly(value);
    state.flush();
  };
  const names = ["focus", "selected", "shortlist"];
  const listeners = names.map((name) => () => take(name));
  names.forEach((name, i) => {
    take(name);
    model.on(`change:${name}`, listeners[i]);
  });
  return () => {
    names.forEach((name, i) => model.off(`change:${name}`, listeners[i]));
    host.stop();
    handle.destroy();
  };
}

export default { render };
export { mount, pageHost };
