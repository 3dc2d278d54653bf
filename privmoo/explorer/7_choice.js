// The shortlist with its comments, and two solutions side by side.

class Shortlist {
  constructor(state) {
    this.state = state;
    this.list = el("ul", { class: "pmx-list" });
    this.empty = el("p", { class: "pmx-hint", text: "Pin a solution (key a, or ☆) to keep it here with a comment." });
    this.text = el("textarea", { class: "pmx-text", readonly: true, hidden: true, rows: 4, "aria-label": "Shortlist as text" });
    this.copy = el("button", { type: "button", class: "pmx-button", text: "As text", onclick: () => this.asText() });
    this.root = el("section", { class: "pmx-panel pmx-shortlist", "aria-label": "Shortlist" },
      el("div", { class: "pmx-controls" }, el("h3", { text: "Shortlist" }), this.copy),
      this.empty, this.list, this.text);
    this.show();
    state.listen((names) => {
      if (names.has("shortlist") || names.has("compared") || names.has("focus")) this.show();
    });
  }

  asText() {
    const { state } = this;
    this.text.hidden = !this.text.hidden;
    if (this.text.hidden) return;
    this.text.value = [...state.shortlist].map(([id, comment]) =>
      `${state.name(id)}: ${state.says(id)}${comment ? ` (${comment})` : ""}`).join("\n");
    this.text.select();
  }

  show() {
    const { state } = this;
    this.empty.hidden = state.shortlist.size > 0;
    this.copy.hidden = state.shortlist.size === 0;
    if (!this.copy.hidden && !this.text.hidden) this.text.hidden = true;
    const ids = [...state.shortlist.keys()];
    // Rows stay where they are, so that nobody loses the place in a comment.
    if (ids.join() !== this.shown) {
      this.list.replaceChildren(...ids.map((id) => this.entry(id)));
      this.shown = ids.join();
    }
    for (const item of this.list.children) {
      const id = Number(item.dataset.id);
      item.classList.toggle("pmx-focused", id === state.focus);
      item.querySelector("input[type=checkbox]").checked = state.compared.includes(id);
      const comment = item.querySelector("input[type=text]");
      if (comment !== comment.getRootNode().activeElement) comment.value = state.shortlist.get(id);
    }
  }

  entry(id) {
    const { state } = this;
    const name = state.name(id);
    const comment = el("input", {
      type: "text",
      maxlength: "500",
      placeholder: "comment",
      "aria-label": `comment on ${name}`,
      onchange: () => state.pin(id, comment.value),
    });
    return el("li", { "data-id": id },
      el("button", { type: "button", class: "pmx-link", text: name, onclick: () => state.setFocus(id) }),
      el("span", { class: "pmx-says", text: state.says(id) }), comment,
      el("label", { class: "pmx-check" },
        el("input", { type: "checkbox", "aria-label": `compare ${name}`, onchange: () => state.compare(id) }), "compare"),
      el("button", { type: "button", class: "pmx-button", "aria-label": `unpin ${name}`, text: "✕", onclick: () => state.pin(id) }));
  }
}

class Comparison {
  constructor(state, cards) {
    Object.assign(this, { state, cards });
    this.body = el("div");
    this.root = el("section", { class: "pmx-panel pmx-comparison", "aria-label": "Comparison", hidden: true },
      el("div", { class: "pmx-controls" }, el("h3", { text: "Side by side" }),
        el("button", { type: "button", class: "pmx-button", text: "Close", onclick: () => {
          state.compared = [];
          state.changed("compared");
        } })), this.body);
    state.listen((names) => {
      if (names.has("compared") || (names.has("focus") && state.compared.length)) this.show();
    });
  }

  async show() {
    const { state } = this;
    const pair = state.pair;
    this.root.hidden = state.compared.length === 0;
    if (pair === null) {
      this.body.replaceChildren(el("p", { class: "pmx-hint",
        text: state.compared.length ? `${state.name(state.compared[0])} is marked: focus another one, or mark it too.` : "" }));
      return;
    }
    const known = (id) => (state.fronts[state.frontOf[id]].cards ? this.cards.get(id) : null);
    let cards = [null, null];
    try {
      cards = await Promise.all(pair.map(known));
    } catch {
      cards = [null, null]; // values can be compared without words
    }
    if (!state.pair || state.pair.join() !== pair.join()) return;
    this.body.replaceChildren(el("div", { class: "pmx-scroll" }, el("table", { class: "pmx-compare" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "" }),
        ...pair.map((id) => el("th", { scope: "col", text: state.name(id) })),
        el("th", { scope: "col", text: "what changes" }))),
      el("tbody", {}, ...this.values(pair), ...(cards.every((card) => card) ? this.words(cards) : [])))));
  }

  values([a, b]) {
    const { state } = this;
    return state.quantities.flatMap((q, j) => {
      const [va, vb] = [state.columns[j][a], state.columns[j][b]];
      if (Number.isNaN(va) || Number.isNaN(vb)) return [];
      const same = va === vb;
      const better = (q.sense === "min") === (vb < va);
      const by = q.percent ? `${number(digits(Math.abs(vb - va) * 100, 3))} points` : number(Number.isInteger(vb - va) ? Math.abs(vb - va) : digits(Math.abs(vb - va)));
      const text = same ? "same" : `${better ? "✓ better" : "✗ worse"}: ${vb > va ? "+" : "−"}${by}`;
      return [el("tr", { class: same ? null : "pmx-changed" }, el("th", { scope: "row", text: q.label.replace(/ \(%\)$/, "") }),
        el("td", { text: write(q, va) }), el("td", { text: write(q, vb) }), el("td", { text }))];
    });
  }

  words([one, other]) {
    return Object.keys(one.words).map((name) => {
      const [a, b] = [one.words[name], other.words[name] ?? ""];
      const same = a === b;
      const [la, lb] = [one.loss[name], other.loss[name]];
      const known = typeof la === "number" && typeof lb === "number";
      const lost = known && la !== lb ? `: ${lb > la ? "tells less" : "tells more"} (loss ${digits(la * 100, 3)} % → ${digits(lb * 100, 3)} %)` : "";
      return el("tr", { class: same ? null : "pmx-changed" }, el("th", { scope: "row", text: name }),
        el("td", {}, marked(a, b)), el("td", {}, marked(b, a)),
        el("td", { text: same ? `same${known && la !== lb ? `, loss ${digits(la * 100, 3)} % → ${digits(lb * 100, 3)} %` : ""}` : `≠ changed${lost}` }));
    });
  }
}

/** A sentence with the labels marked that the other one has not. */
function marked(words, other) {
  const there = new Set(other.split(" | "));
  const parts = words.split(" | ").flatMap((label, i) => [
    i ? " | " : "", there.has(label) ? label : el("mark", { text: label }),
  ]);
  return el("div", { class: "pmx-sentence" }, ...parts);
}
