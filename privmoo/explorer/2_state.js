// What is known and what was chosen; every view reads it and is told of changes.

const CLOSE = 1e-9; // a loss of 0.4 may be 0.4000000000000001
const TRIES = 20;

class State {
  constructor(data) {
    this.data = data;
    this.quantities = data.quantities;
    this.objectives = data.quantities.map((q, j) => j).filter((j) => data.quantities[j].objective);
    this.fronts = data.fronts;
    this.size = data.fronts.reduce((sum, front) => sum + front.values.length, 0);
    this.frontOf = new Uint8Array(this.size);
    this.columns = this.quantities.map(() => new Float64Array(this.size));
    this.starts = [];
    let id = 0;
    data.fronts.forEach((front, f) => {
      this.starts.push(id);
      for (const row of front.values) {
        this.frontOf[id] = f;
        row.forEach((v, j) => { this.columns[j][id] = v === null ? NaN : v; });
        id += 1;
      }
    });
    this.several = data.fronts.length > 1;
    // What the last search found, with the earlier solutions that it is linked to.
    this.fresh = new Map(data.fronts.flatMap((front, f) => (front.fresh ?? []).map((one) => [this.starts[f] + one.place, one])));
    this.readFamilies();
    this.visible = data.fronts.map(() => true);
    this.ranges = this.quantities.map(() => null);
    this.only = null;
    this.mask = new Uint8Array(this.size);
    this.beaten = new Uint8Array(this.size);
    this.count = 0;
    this.focus = null;
    this.hover = null;
    this.shortlist = new Map();
    this.compared = [];
    this.axes = { x: this.objectives[0], y: this.objectives[1] ?? Math.min(1, this.columns.length - 1) };
    this.axes.colour = this.several ? "front" : this.families.length ? "family" : this.objectives[2] ?? "none";
    this.log = this.quantities.map((q) => q.log);
    this.sort = { by: this.objectives[0], down: false };
    this.columnOrder = [];
    this.hiddenColumns = new Set();
    this.listeners = [];
    this.dirty = new Set();
    this.updates = [];
    this.tries = 0;
    this.compareFronts();
    this.filter();
  }

  /** The families of recodings of all fronts; none where no front has several. */
  readFamilies() {
    this.families = [...new Set(this.fronts.flatMap((front) => front.families?.names ?? []))];
    this.familyOf = new Int8Array(this.size).fill(-1);
    this.fronts.forEach((front, f) => front.families?.of.forEach((place, i) => {
      this.familyOf[this.starts[f] + i] = this.families.indexOf(front.families.names[place]);
    }));
    this.wanted = this.families.map(() => true);
  }

  family(id) {
    return this.familyOf[id] < 0 ? null : this.families[this.familyOf[id]];
  }

  /** Fronts have shapes; of a single front, its families have. */
  shape(id) {
    return FRONT_SHAPES[(this.several ? this.frontOf[id] : Math.max(this.familyOf[id], 0)) % FRONT_SHAPES.length];
  }

  // Telling the views, once per frame

  listen(listener) {
    this.listeners.push(listener);
  }

  changed(...names) {
    names.forEach((name) => this.dirty.add(name));
    if (this.planned === undefined) this.planned = requestAnimationFrame(() => this.flush());
  }

  flush() {
    if (this.planned !== undefined) cancelAnimationFrame(this.planned);
    this.planned = undefined;
    if (!this.dirty.size) return 0;
    const names = this.dirty;
    this.dirty = new Set();
    const begin = performance.now();
    if (names.has("fronts")) this.compareFronts();
    if (names.has("filters") || names.has("fronts")) {
      this.filter();
      names.add("selected");
    }
    this.listeners.forEach((listener) => listener(names));
    if (this.trying === undefined) this.tries = 0; // every view was drawn
    const spent = performance.now() - begin;
    this.updates = [...this.updates.slice(-99), spent];
    return spent;
  }

  /**
   * Tells the views again of what one of them missed while it was hidden. When it has a size again, that is
   * reported; but a size that went and came within a frame is not, so a few tries follow by themselves.
   */
  missed(names) {
    if (this.tries >= TRIES || this.trying !== undefined) return;
    this.tries += 1;
    this.trying = setTimeout(() => {
      this.trying = undefined;
      this.changed("size", ...names);
    }, 100);
  }

  // Filters

  filter() {
    this.mask.fill(1);
    this.fronts.forEach((front, f) => {
      const start = this.starts[f];
      if (!this.visible[f]) this.mask.fill(0, start, start + front.values.length);
    });
    if (this.wanted.includes(false)) {
      for (let i = 0; i < this.size; i += 1) if (this.wanted[this.familyOf[i]] === false) this.mask[i] = 0;
    }
    if (this.only !== null) {
      for (let i = 0; i < this.size; i += 1) if (!this.only.has(i)) this.mask[i] = 0;
    }
    this.ranges.forEach((range, j) => {
      if (range === null) return;
      const column = this.columns[j];
      const low = range.min === null ? -Infinity : range.min - CLOSE * Math.max(1, Math.abs(range.min));
      const high = range.max === null ? Infinity : range.max + CLOSE * Math.max(1, Math.abs(range.max));
      for (let i = 0; i < this.size; i += 1) if (!(column[i] >= low && column[i] <= high)) this.mask[i] = 0;
    });
    this.count = this.mask.reduce((sum, one) => sum + one, 0);
  }

  get filtered() {
    return this.only !== null || this.wanted.includes(false) || this.ranges.some((range) => range !== null);
  }

  setRange(j, min, max) {
    this.ranges[j] = min === null && max === null ? null : { min, max };
    this.changed("filters");
  }

  setFamily(family, wanted) {
    this.wanted[family] = wanted;
    this.changed("filters");
  }

  setOnly(ids) {
    const all = ids === null || ids.length === this.size;
    this.only = all ? null : new Set(ids);
    this.ranges = this.ranges.map(() => null);
    this.wanted.fill(true);
    this.changed("filters");
  }

  clear() {
    this.ranges = this.ranges.map(() => null);
    this.wanted.fill(true);
    this.only = null;
    this.compared = [];
    this.changed("filters", "compared", "cleared");
  }

  get selected() {
    const ids = [];
    for (let i = 0; i < this.size; i += 1) if (this.mask[i]) ids.push(i);
    return ids;
  }

  limitsInWords() {
    const said = [];
    if (this.wanted.includes(false)) {
      const names = this.families.filter((_, i) => this.wanted[i]);
      said.push(names.length ? `family ${names.join(" or ")}` : "no family");
    }
    this.ranges.forEach((range, j) => {
      const q = this.quantities[j];
      if (range && range.min !== null) said.push(`${q.words} ≥ ${write(q, range.min)}`);
      if (range && range.max !== null) said.push(`${q.words} ≤ ${write(q, range.max)}`);
    });
    if (this.only !== null) said.push(`${this.only.size.toLocaleString("en-US")} set in Python`);
    return said;
  }

  // The axes side by side

  setColumns(order) {
    this.columnOrder = [...order];
  }

  get shownColumns() {
    return this.columnOrder.filter((j) => !this.hiddenColumns.has(j));
  }

  moveColumn(j, by) {
    const shown = this.shownColumns;
    const other = shown[shown.indexOf(j) + by];
    if (other === undefined) return;
    const [a, b] = [this.columnOrder.indexOf(j), this.columnOrder.indexOf(other)];
    [this.columnOrder[a], this.columnOrder[b]] = [other, j];
    this.changed("columns");
  }

  /** Hides an axis, with its limit; the last one stays. */
  hideColumn(j, away) {
    if (away && this.shownColumns.length < 2) return;
    if (away) this.hiddenColumns.add(j);
    else this.hiddenColumns.delete(j);
    if (away && this.ranges[j] !== null) this.setRange(j, null, null);
    this.changed("columns");
  }

  // An exploration: limits, order of the axes, shortlist and comments, as plain data

  /** Solutions are named by front and number, which are the same in another file of the same front. */
  get exploration() {
    const key = (j) => this.quantities[j].key;
    return {
      version: 1,
      limits: Object.fromEntries(this.ranges.flatMap((range, j) => (range === null ? [] : [[key(j), [range.min, range.max]]]))),
      families: this.families.filter((_, i) => !this.wanted[i]),
      axes: this.columnOrder.map(key),
      hidden: [...this.hiddenColumns].map(key),
      shortlist: [...this.shortlist].map(([id, comment]) => [this.frontOf[id], this.number(id), comment]),
    };
  }

  /** Takes up an exploration; what this front does not have is left out, and counted. */
  explore(saved) {
    if (typeof saved !== "object" || saved === null || saved.version !== 1) throw new Error("this file is not an exploration");
    let missing = 0;
    const place = new Map(this.quantities.map((q, j) => [q.key, j]));
    const at = (key) => {
      if (!place.has(key)) missing += 1;
      return place.get(key);
    };
    const real = (v) => (typeof v === "number" && Number.isFinite(v) ? v : null);
    this.only = null;
    this.ranges = this.ranges.map(() => null);
    for (const [key, ends] of Object.entries(saved.limits ?? {})) {
      const j = at(key);
      const [min, max] = Array.isArray(ends) ? ends.map(real) : [null, null];
      if (j !== undefined && (min !== null || max !== null)) this.ranges[j] = { min, max };
    }
    this.wanted = this.families.map((name) => !(saved.families ?? []).includes(name));
    const order = (saved.axes ?? []).map(at).filter((j) => this.columnOrder.includes(j));
    this.columnOrder = [...new Set([...order, ...this.columnOrder])];
    const hidden = new Set((saved.hidden ?? []).map(at).filter((j) => j !== undefined));
    if (this.columnOrder.some((j) => !hidden.has(j))) this.hiddenColumns = hidden;
    const pairs = [];
    for (const [front, number, comment] of saved.shortlist ?? []) {
      const inside = this.fronts[front]?.numbers.indexOf(number) ?? -1;
      if (inside < 0) missing += 1;
      else pairs.push([this.starts[front] + inside, String(comment ?? "").slice(0, 500)]);
    }
    this.setShortlist(pairs);
    this.changed("filters", "columns", "cleared");
    return missing;
  }

  // Choosing

  setFocus(id) {
    if (id === this.focus) return;
    this.focus = id;
    this.changed("focus");
  }

  setHover(id) {
    if (id === this.hover) return;
    this.hover = id;
    this.changed("hover");
  }

  /** Goes on in an order, among the selected ones. */
  step(order, by) {
    const open = order.filter((id) => this.mask[id]);
    if (!open.length) return;
    const at = open.indexOf(this.focus);
    this.setFocus(at < 0 ? open[0] : open[Math.min(Math.max(at + by, 0), open.length - 1)]);
  }

  order(j, down) {
    const column = j === "id" ? null : j === "front" ? this.frontOf : j === "family" ? this.familyOf : this.columns[j];
    const ids = Array.from({ length: this.size }, (_, i) => i);
    if (column === null) return down ? ids.reverse() : ids;
    const sign = down ? -1 : 1;
    const last = (v) => (Number.isNaN(v) ? 1 : 0);
    return ids.sort((a, b) =>
      last(column[a]) - last(column[b]) || sign * (column[a] - column[b]) || a - b);
  }

  pin(id, comment = null) {
    if (id === null) return;
    if (this.shortlist.has(id) && comment === null) this.shortlist.delete(id);
    else this.shortlist.set(id, comment ?? "");
    this.changed("shortlist");
  }

  setShortlist(pairs) {
    this.shortlist = new Map(pairs);
    this.changed("shortlist");
  }

  compare(id) {
    if (id === null) return;
    this.compared = this.compared.includes(id)
      ? this.compared.filter((other) => other !== id)
      : [...this.compared, id].slice(-2);
    this.changed("compared");
  }

  /** The two that stand side by side: those marked, or the one marked and the focused one. */
  get pair() {
    if (this.compared.length === 2) return this.compared;
    const [one] = this.compared;
    return one !== undefined && this.focus !== null && this.focus !== one ? [one, this.focus] : null;
  }

  // What dominates what

  dominates(a, b) {
    let better = false;
    for (const j of this.objectives) {
      const sign = this.quantities[j].sense === "min" ? 1 : -1;
      const difference = sign * (this.columns[j][a] - this.columns[j][b]);
      const tolerance = CLOSE * Math.max(1, Math.abs(this.columns[j][a]));
      if (difference > tolerance) return false;
      if (difference < -tolerance) better = true;
    }
    return better;
  }

  /** Which points another front that is shown does better than, and how many of whom by whom. */
  compareFronts() {
    this.beaten.fill(0);
    this.beats = this.fronts.map(() => this.fronts.map(() => 0));
    if (!this.several) return;
    for (let b = 0; b < this.size; b += 1) {
      const own = this.frontOf[b];
      this.fronts.forEach((front, f) => {
        if (f === own || !this.visible[f] || !this.visible[own]) return;
        const start = this.starts[f];
        for (let a = start; a < start + front.values.length; a += 1) {
          if (this.dominates(a, b)) {
            this.beats[f][own] += 1;
            this.beaten[b] = 1;
            break;
          }
        }
      });
    }
  }

  /** Points of other shown fronts that dominate one, and that it dominates. */
  rivals(id) {
    const above = [];
    const below = [];
    for (let i = 0; i < this.size; i += 1) {
      if (this.frontOf[i] === this.frontOf[id] || !this.visible[this.frontOf[i]]) continue;
      if (this.dominates(i, id)) above.push(i);
      else if (this.dominates(id, i)) below.push(i);
    }
    return { above, below };
  }

  // In words

  place(id) {
    return id - this.starts[this.frontOf[id]];
  }

  /** The number by which people call a solution, the same as in Python and on the command line. */
  number(id) {
    return this.fronts[this.frontOf[id]].numbers[this.place(id)];
  }

  name(id) {
    return this.several ? `${this.fronts[this.frontOf[id]].name} ${this.number(id)}` : `Solution ${this.number(id)}`;
  }

  marks(id) {
    const marks = ["knee", "pick"].filter((mark) => this.is(mark, id));
    // A pick of the user's own takes the place of a suggestion.
    if (this.fronts[this.frontOf[id]].pick === null && this.is("suggested", id)) marks.push("suggested");
    if (this.fresh.has(id)) marks.push("new");
    return marks;
  }

  is(mark, id) {
    return this.fronts[this.frontOf[id]][mark] === this.place(id);
  }

  says(id) {
    return this.objectives.map((j) => phrase(this.quantities[j], this.columns[j][id])).join(", ");
  }

  tip(id) {
    const family = this.family(id);
    const lines = [family === null ? this.name(id) : `${this.name(id)}, ${family}`];
    this.quantities.forEach((q, j) => {
      if (!Number.isNaN(this.columns[j][id])) lines.push(phrase(q, this.columns[j][id]));
    });
    for (const mark of this.marks(id)) lines.push(markInWords(mark));
    if (this.beaten[id]) lines.push("dominated by another front");
    return lines;
  }
}

/** A mark in a sentence. */
function markInWords(mark) {
  return mark === "suggested" ? mark : mark === "new" ? "found by the last search" : `the ${mark}`;
}
