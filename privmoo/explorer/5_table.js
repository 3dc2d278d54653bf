// All selected solutions as a table that can be sorted. Only the rows in sight exist.

const ROW = 28;
const SPARE = 6;

class SolutionTable {
  constructor(state) {
    this.state = state;
    this.all = false;
    this.columns = ["pin", "id", ...(state.several ? ["front"] : []),
      ...(state.families.length ? ["family"] : []), ...state.quantities.keys()];
    this.head = el("tr", { "aria-rowindex": "1" });
    this.body = el("tbody");
    this.table = el("table", { class: "pmx-table", "aria-label": "Solutions" },
      el("thead", {}, this.head), this.body);
    this.scroll = el("div", { class: "pmx-rows", tabindex: "0", "aria-label": "Solutions, one per row",
      role: "region" }, this.table);
    this.count = el("span", { class: "pmx-count" });
    const all = el("input", {
      type: "checkbox",
      onchange: () => { this.all = all.checked; this.arrange(); this.show(); },
    });
    this.root = el("section", { class: "pmx-panel pmx-solutions", "aria-label": "Table of solutions" },
      el("div", { class: "pmx-controls" }, el("h3", { text: "Solutions" }), this.count,
        el("label", { class: "pmx-check" }, all, "also those outside the limits")), this.scroll);
    this.scroll.addEventListener("scroll", () => this.show());
    this.body.addEventListener("click", (event) => this.clicked(event));
    this.headers();
    this.sort();
    state.listen((names) => this.update(names));
  }

  name(column) {
    if (column === "pin") return "pinned";
    if (column === "id") return "#";
    return typeof column === "string" ? column : this.state.quantities[column].label;
  }

  headers() {
    const { sort } = this.state;
    this.head.replaceChildren(...this.columns.map((column) => {
      const own = sort.by === column;
      const state = own ? (sort.down ? "descending" : "ascending") : "none";
      const button = el("button", {
        type: "button",
        class: "pmx-sort",
        "data-column": typeof column === "string" ? column : this.state.quantities[column].key,
        title: `sort by ${this.name(column)}`,
        onclick: () => this.sorted(column),
      }, column === "pin" ? "★" : this.name(column),
      el("span", { class: "pmx-arrow", "aria-hidden": "true", text: own ? (sort.down ? " ▼" : " ▲") : "" }));
      if (column === "pin") button.setAttribute("aria-label", "sort by pinned");
      return el("th", { scope: "col", "aria-sort": state,
        class: typeof column === "number" ? "pmx-num" : null }, button);
    }));
  }

  sorted(column) {
    const { sort } = this.state;
    sort.down = sort.by === column ? !sort.down : column === "pin";
    sort.by = column;
    const at = [...this.head.children].findIndex((th) => th.contains(document.activeElement));
    this.headers();
    if (at >= 0) this.head.children[at].querySelector("button").focus();
    this.sort();
    this.scroll.scrollTop = 0;
    this.show();
  }

  sort() {
    const { state } = this;
    const { by, down } = state.sort;
    if (by === "pin") {
      const pinned = (id) => (state.shortlist.has(id) ? 1 : 0);
      this.order = state.order("id", false).sort((a, b) =>
        (down ? -1 : 1) * (pinned(a) - pinned(b)) || a - b);
    } else {
      this.order = state.order(by, down);
    }
    this.arrange();
  }

  arrange() {
    const { state } = this;
    this.rows = this.order.filter((id) => state.visible[state.frontOf[id]] && (this.all || state.mask[id]));
    this.table.setAttribute("aria-rowcount", this.rows.length + 1);
    this.count.textContent = `${state.count.toLocaleString("en-US")} of `
      + `${state.size.toLocaleString("en-US")} within the limits`;
  }

  update(names) {
    if (names.has("selected")) this.arrange();
    if (names.has("shortlist") && this.state.sort.by === "pin") this.sort();
    if (names.has("focus") && this.state.focus !== null) this.reveal(this.state.focus);
    if (["size", "selected", "focus", "shortlist"].some((name) => names.has(name))) this.show();
  }

  reveal(id) {
    const at = this.rows.indexOf(id);
    if (at < 0) return;
    const top = at * ROW;
    const { scrollTop, clientHeight } = this.scroll;
    const inside = clientHeight - 34; // below the heading
    if (top < scrollTop) this.scroll.scrollTop = top;
    else if (top + ROW > scrollTop + inside) this.scroll.scrollTop = top + ROW - inside;
  }

  show() {
    const { rows } = this;
    const first = Math.max(0, Math.floor(this.scroll.scrollTop / ROW) - SPARE);
    const last = Math.min(rows.length, first + Math.ceil(this.scroll.clientHeight / ROW) + 2 * SPARE);
    const space = (n) => {
      const filler = el("tr", { "aria-hidden": "true", class: "pmx-space" }, el("td"));
      filler.style.height = `${n * ROW}px`;
      return n > 0 ? [filler] : [];
    };
    const shown = [];
    for (let i = first; i < last; i += 1) shown.push(this.row(rows[i], i));
    this.body.replaceChildren(...space(first), ...shown, ...space(rows.length - last));
  }

  row(id, i) {
    const { state } = this;
    const pinned = state.shortlist.has(id);
    const cells = this.columns.map((column) => {
      if (column === "pin") {
        return el("td", {}, el("button", {
          type: "button",
          class: "pmx-pin",
          tabindex: "-1",
          "aria-pressed": pinned ? "true" : "false",
          "aria-label": `${pinned ? "unpin" : "pin"} ${state.name(id)}`,
          text: pinned ? "★" : "☆",
        }));
      }
      if (column === "id") {
        const marks = state.marks(id).map((mark) => ` ${mark}`);
        return el("th", { scope: "row", text: `${state.number(id)}${marks.join("")}` });
      }
      if (column === "front") {
        const name = state.fronts[state.frontOf[id]].name;
        return el("td", { text: state.beaten[id] ? `${name} (dominated)` : name });
      }
      if (column === "family") return el("td", { text: state.family(id) ?? "–" });
      const value = state.columns[column][id];
      const text = Number.isNaN(value) ? "–" : write(state.quantities[column], value);
      return el("td", { class: "pmx-num", text: text.replace(/ %$/, "") });
    });
    const outside = state.mask[id] ? "" : " pmx-out";
    return el("tr", {
      "data-id": id,
      "aria-rowindex": i + 2,
      "aria-current": state.focus === id ? "true" : null,
      class: `pmx-row${outside}${state.focus === id ? " pmx-focused" : ""}`,
    }, ...cells);
  }

  clicked(event) {
    const row = event.target.closest("tr[data-id]");
    if (!row) return;
    const id = Number(row.dataset.id);
    if (event.target.closest(".pmx-pin")) this.state.pin(id);
    else this.state.setFocus(id);
  }
}
