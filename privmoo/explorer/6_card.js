// The card of the focused solution. What it needs beyond values is asked of the host when needed.

/** Cards that were asked for, so that going back costs nothing. */
class Cards {
  constructor(host) {
    this.host = host;
    this.known = new Map();
  }

  get(id) {
    if (!this.known.has(id)) {
      const asked = Promise.resolve(this.host.card(id));
      asked.catch(() => this.known.delete(id));
      this.known.set(id, asked);
      if (this.known.size > 300) this.known.delete(this.known.keys().next().value);
    }
    return this.known.get(id);
  }
}

class Card {
  constructor(state, cards, host) {
    Object.assign(this, { state, cards, host });
    this.title = el("h3");
    this.badges = el("div", { class: "pmx-badges" });
    this.pin = el("button", { type: "button", class: "pmx-button", onclick: () => state.pin(state.focus) });
    this.compare = el("button", { type: "button", class: "pmx-button", onclick: () => state.compare(state.focus) });
    this.figures = el("div", { class: "pmx-figures" }); // no <dl>: notebooks style these
    this.rivals = el("div", { class: "pmx-rivals" });
    this.more = el("div", { class: "pmx-more", "aria-busy": "false" });
    this.rows = el("div", { class: "pmx-preview" });
    this.empty = el("p", { class: "pmx-hint",
      text: "Click a point, a line or a row to see what a solution does to the table." });
    this.full = el("div", { hidden: true }, this.badges,
      el("div", { class: "pmx-buttons" }, this.pin, this.compare), this.figures, this.rivals,
      this.more, this.rows);
    this.root = el("section", { class: "pmx-panel pmx-card", "aria-label": "Solution in focus", tabindex: "-1" },
      this.title, this.empty, this.full);
    this.show();
    state.listen((names) => this.update(names));
  }

  update(names) {
    if (names.has("focus") || names.has("fronts")) this.show();
    else if (names.has("shortlist") || names.has("compared")) this.buttons();
    if (names.has("selected") && this.state.focus !== null) this.showBadges(this.state.focus);
  }

  showBadges(id) {
    const { state } = this;
    const badges = state.marks(id).map(markInWords);
    if (!state.mask[id]) badges.push("outside the limits");
    if (state.family(id) !== null) badges.unshift(`family: ${state.family(id)}`);
    this.badges.replaceChildren(...badges.map((text) => el("span", { class: "pmx-badge", text })));
  }

  buttons() {
    const { state } = this;
    const pinned = state.shortlist.has(state.focus);
    this.pin.textContent = pinned ? "★ Unpin (a)" : "☆ Pin (a)";
    this.pin.setAttribute("aria-pressed", pinned ? "true" : "false");
    const marked = state.compared.includes(state.focus);
    this.compare.textContent = marked ? "⇄ Do not compare (c)" : "⇄ Compare (c)";
    this.compare.setAttribute("aria-pressed", marked ? "true" : "false");
  }

  show() {
    const { state } = this;
    const id = state.focus;
    this.empty.hidden = id !== null;
    this.full.hidden = id === null;
    this.title.textContent = id === null ? "Nothing in focus" : state.name(id);
    clearTimeout(this.waiting);
    if (id === null) return;
    this.buttons();
    this.showBadges(id);
    this.figures.replaceChildren(...state.quantities.flatMap((q, j) => {
      const value = state.columns[j][id];
      return Number.isNaN(value) ? [] : [el("div", { class: q.objective ? "pmx-objective" : null },
        el("span", { class: "pmx-name", text: q.label.replace(/ \(%\)$/, "") }), " ",
        el("span", { class: "pmx-value", text: write(q, value) }))];
    }));
    this.showRivals(id);
    this.more.setAttribute("aria-busy", "true");
    // Whoever walks along the front with the arrows does not want every card on the way.
    this.waiting = setTimeout(() => this.ask(id), this.more.childElementCount ? 60 : 0);
  }

  async ask(id) {
    if (!this.state.fronts[this.state.frontOf[id]].cards) {
      this.more.replaceChildren(el("p", { class: "pmx-hint", text: "Of this point only its values are known." }));
      this.rows.replaceChildren();
      this.more.setAttribute("aria-busy", "false");
      return;
    }
    try {
      const card = await this.cards.get(id);
      if (this.state.focus !== id) return;
      this.more.replaceChildren(...this.content(card));
    } catch (problem) {
      if (this.state.focus !== id) return;
      this.more.replaceChildren(el("p", { class: "pmx-hint", role: "alert", text: String(problem.message) }));
    }
    this.more.setAttribute("aria-busy", "false");
    this.askRows(id);
  }

  async askRows(id) {
    let parts;
    try {
      const preview = await this.host.preview(id);
      if (this.state.focus !== id) return;
      parts = previewParts(preview);
    } catch (problem) {
      if (this.state.focus !== id) return;
      parts = [el("p", { class: "pmx-hint", text: String(problem.message) })];
    }
    this.rows.replaceChildren(el("h4", { text: "Rows of the release" }), ...parts);
  }

  content(card) {
    const lost = Object.values(card.loss).some((value) => value !== null);
    // The words are below the name: a sentence about regions needs the width of the card.
    const attributes = el("table", { class: "pmx-words" },
      el("thead", {}, el("tr", {}, el("th", { scope: "col", text: "attribute, and what is published of it" }),
        lost ? el("th", { scope: "col", class: "pmx-num", text: "loss" }) : null)),
      ...Object.entries(card.words).map(([name, words]) => el("tbody", {},
        el("tr", {}, el("th", { scope: "rowgroup", text: name }),
          lost ? el("td", { class: "pmx-num" }, bar(card.loss[name], 1), share(card.loss[name])) : null),
        el("tr", {}, el("td", { colspan: lost ? 2 : 1 }, el("div", { class: "pmx-sentence", text: words }),
          card.lost[name] ? el("div", { class: "pmx-lost", text: card.lost[name] }) : null)))));
    const most = Math.max(...card.sizes, 1);
    const total = card.sizes.reduce((sum, n) => sum + n, 0);
    const sizes = el("table", { class: "pmx-bars" },
      el("tbody", {}, ...card.sizes.map((n, i) => el("tr", {},
        el("th", { scope: "row", text: this.state.data.sizes[i] }),
        el("td", {}, bar(n, most)), el("td", { class: "pmx-num", text: number(n) })))));
    const facts = el("table", { class: "pmx-facts" }, el("tbody", {}, ...card.facts.map(([name, value]) =>
      el("tr", {}, el("th", { scope: "row", text: name }), el("td", { class: "pmx-num", text: number(value) })))));
    return [
      card.next ? el("p", { class: "pmx-next" }, el("b", { text: "From here: " }), card.next) : null,
      el("h4", { text: "What is published" }), attributes,
      el("h4", { text: "Privacy and risk" }), facts,
      el("h4", { text: `Records by the size of their QI-group (${number(total)} released)` }), sizes,
    ].filter((part) => part !== null);
  }

  showRivals(id) {
    const { state } = this;
    const found = state.fresh.get(id);
    this.rivals.replaceChildren(...(found ? [el("p", { text: found.says })] : []));
    if (!state.several) return;
    const { above, below } = state.rivals(id);
    const list = (ids) => ids.slice(0, 6).flatMap((other, i) => [i ? ", " : "", el("button", {
      type: "button", class: "pmx-link", text: state.name(other), onclick: () => state.setFocus(other),
    })]);
    const more = (ids) => (ids.length > 6 ? ` and ${ids.length - 6} more` : "");
    if (!above.length) this.rivals.append(el("p", { text: "No point of another front dominates it." }));
    else this.rivals.append(el("p", {}, "Dominated by ", ...list(above), `${more(above)}.`));
    if (below.length) this.rivals.append(el("p", {}, "It dominates ", ...list(below), `${more(below)}.`));
  }
}

function bar(value, most) {
  const inner = el("span", { class: "pmx-bar-in" });
  inner.style.width = `${value === null || value === undefined ? 0 : Math.min(100, (value / most) * 100)}%`;
  return el("span", { class: "pmx-bar", "aria-hidden": "true" }, inner);
}

function share(value) {
  return el("span", { class: "pmx-share", text: value === null || value === undefined ? "–" : `${digits(value * 100, 3)} %` });
}

function previewParts(preview) {
  const parts = [];
  if (preview.note) parts.push(el("p", { class: "pmx-hint", text: preview.note }));
  if (preview.rows && preview.rows.length) {
    parts.push(el("div", { class: "pmx-scroll", tabindex: "0", role: "region", "aria-label": "Rows of the release" },
      el("table", { class: "pmx-data" },
        el("thead", {}, el("tr", {}, ...preview.columns.map((text) => el("th", { scope: "col", text })))),
        el("tbody", {}, ...preview.rows.map((row) =>
          el("tr", {}, ...row.map((text) => el("td", { text })))))))),
    parts.push(el("p", { class: "pmx-hint",
      text: `${preview.rows.length} of ${number(preview.total)} released rows` }));
  }
  return parts;
}
