// The explorer of a front. The files are put together in the order of their names; see page.py.
// Nothing here is loaded from anywhere, and text of the data only ever becomes text.

/** An element with attributes, listeners ("onclick") and children. */
function el(tag, properties = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "text") node.textContent = value;
    else if (typeof value === "function") node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.filter((child) => child !== null && child !== undefined));
  return node;
}

const digits = (value, n = 4) => Number(value.toPrecision(n));

/** A number as people read it. */
function number(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not known";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return value.toLocaleString("en-US");
  if (Math.abs(value) >= 1000 && Math.abs(value) < 1e9) {
    return value.toLocaleString("en-US", { maximumFractionDigits: 1 });
  }
  return String(digits(value));
}

/** A value of a quantity, as Quantity.write of the library writes it. */
function write(quantity, value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not known";
  return quantity.percent ? `${digits(value * 100)} %` : number(value);
}

/** A value with its name, for sentences: "k = 5", "20 % loss". */
function phrase(quantity, value) {
  return quantity.percent
    ? `${write(quantity, value)} ${quantity.words}`
    : `${quantity.words} = ${write(quantity, value)}`;
}

/** What somebody typed as a limit: {value}, null if nothing, or {problem}. */
function parseLimit(quantity, typed) {
  const text = typed.replace(/\s/g, "").replace("−", "-");
  if (text === "") return null;
  const percent = text.endsWith("%");
  const figure = percent ? text.slice(0, -1) : text;
  // Commas part thousands only: 2,5 is not 25.
  if (!/^-?(\d{1,3}(,\d{3})+|\d+|(?=\.))(\.\d+)?(e[-+]?\d{1,3})?$/i.test(figure)) {
    return { problem: /^-?\d+,\d{1,2}$/.test(figure) ? `write ${figure.replace(",", ".")}, with a point` : "not a number" };
  }
  const number = Number(figure.replaceAll(",", ""));
  if (!Number.isFinite(number)) return { problem: "not a number" };
  // Axes are marked in per cent: 30 on one is 30 %, and 0.3 is the same.
  const value = percent || (quantity.percent && number > 1) ? number / 100 : number;
  if (quantity.percent && (value > 1 || value < 0)) return { problem: "from 0 % to 100 %" };
  return { value };
}

/**
 * Maps values to pixels; with ticks, and back. Logarithmic only where all values are above 0. Values
 * beside are given a fifth more space on each side, if they need it.
 */
function makeScale(values, log, from, to, tight = false, beside = []) {
  let low = Infinity;
  let high = -Infinity;
  for (const v of values) {
    if (Number.isNaN(v)) continue;
    if (v < low) low = v;
    if (v > high) high = v;
  }
  if (low > high) [low, high] = [0, 1];
  const logarithmic = log && low > 0;
  const forth = logarithmic ? Math.log10 : (v) => v;
  const back = logarithmic ? (v) => 10 ** v : (v) => v;
  let a = forth(low);
  let b = forth(high);
  if (a === b) [a, b] = [a - 0.5, b + 0.5];
  else {
    const room = (b - a) * 0.2;
    let [first, last] = [a, b];
    for (const v of beside) {
      const place = forth(v);
      if (place < a && place >= a - room) first = Math.min(first, place);
      if (place > b && place <= b + room) last = Math.max(last, place);
      if (place < a - room) first = a - room;
      if (place > b + room) last = b + room;
    }
    const edge = tight ? 0 : (last - first) * 0.03;
    [a, b] = [first - edge, last + edge];
  }
  const scale = (v) => from + ((forth(v) - a) / (b - a)) * (to - from);
  scale.invert = (pixel) => back(a + ((pixel - from) / (to - from)) * (b - a));
  scale.low = low;
  scale.high = high;
  scale.logarithmic = logarithmic;
  scale.ticks = (n) => (logarithmic ? logTicks(back(a), back(b), n) : linearTicks(a, b, n));
  return scale;
}

function linearTicks(low, high, n) {
  const rough = (high - low) / Math.max(n, 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((f) => f * power).find((s) => s >= rough * 0.999);
  const ticks = [];
  for (let i = Math.ceil(low / step - 1e-9); i * step <= high + step * 1e-9; i += 1) {
    ticks.push(digits(i * step, 12));
  }
  return ticks;
}

function logTicks(low, high, n) {
  const decades = Math.log10(high / low);
  const within = decades < 1.5 ? [1, 2, 5] : [1];
  const every = Math.max(1, Math.ceil(decades / Math.max(n, 2)));
  const ticks = [];
  for (let e = Math.floor(Math.log10(low)); e <= Math.ceil(Math.log10(high)); e += 1) {
    if (within.length === 1 && e % every !== 0) continue;
    for (const f of within) {
      const tick = digits(f * 10 ** e, 6);
      if (tick >= low * 0.999 && tick <= high * 1.001) ticks.push(tick);
    }
  }
  return ticks;
}

/** A tick on an axis: short. */
function tickText(quantity, value) {
  const shown = quantity.percent ? value * 100 : value;
  const size = Math.abs(shown);
  if (size >= 1e6) return shown.toExponential(0).replace("e+", "e");
  return size >= 10000 ? `${digits(shown / 1000)}k` : String(digits(shown, 6));
}

// Colours that people with any kind of colour vision tell apart (Okabe and Ito); fronts also differ
// by their shapes. Values are coloured by viridis, without the end that the background would hide.
const FRONT_COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"];
const FRONT_SHAPES = ["circle", "square", "triangle", "diamond", "cross", "wedge"];
const VIRIDIS = [
  [68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142],
  [31, 158, 137], [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37],
];

/** One of n steps of viridis, step from 0 to n - 1. */
function stepColour(step, n, dark) {
  const share = n > 1 ? step / (n - 1) : 0.5;
  const position = (dark ? 0.25 + 0.75 * share : 0.85 * share) * (VIRIDIS.length - 1);
  const i = Math.min(Math.floor(position), VIRIDIS.length - 2);
  const mixed = VIRIDIS[i].map((c, k) => Math.round(c + (VIRIDIS[i + 1][k] - c) * (position - i)));
  return `rgb(${mixed.join(",")})`;
}

/** Adds a shape to the current path. */
function addShape(context, shape, x, y, r) {
  if (shape === "circle") {
    context.moveTo(x + r, y);
    context.arc(x, y, r, 0, 2 * Math.PI);
  } else if (shape === "square") {
    context.rect(x - r * 0.9, y - r * 0.9, r * 1.8, r * 1.8);
  } else if (shape === "triangle" || shape === "wedge") {
    const s = shape === "triangle" ? 1 : -1;
    context.moveTo(x, y - s * r * 1.2);
    context.lineTo(x + r * 1.1, y + s * r * 0.8);
    context.lineTo(x - r * 1.1, y + s * r * 0.8);
    context.closePath();
  } else if (shape === "diamond") {
    context.moveTo(x, y - r * 1.3);
    context.lineTo(x + r * 1.3, y);
    context.lineTo(x, y + r * 1.3);
    context.lineTo(x - r * 1.3, y);
    context.closePath();
  } else if (shape === "star") {
    for (let i = 0; i < 10; i += 1) {
      const d = i % 2 ? r * 0.45 : r;
      const angle = (i * Math.PI) / 5 - Math.PI / 2;
      const place = [x + d * Math.cos(angle), y + d * Math.sin(angle)];
      if (i) context.lineTo(...place);
      else context.moveTo(...place);
    }
    context.closePath();
  } else {
    const w = r * 0.45;
    context.rect(x - r * 1.2, y - w, r * 2.4, 2 * w);
    context.rect(x - w, y - r * 1.2, 2 * w, r * 2.4);
  }
}

/** A canvas with as many pixels as the screen has; returns its context, cleared. */
function fitted(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  const context = canvas.getContext("2d");
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
    canvas.style.width = `${width}px`;
    canvas.style.height = `${height}px`;
  }
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

/** Colours of the current theme, read again when it changes. */
class Theme {
  constructor(root) {
    this.root = root;
    this.read();
  }

  read() {
    const style = getComputedStyle(this.root);
    const names = ["bg", "ink", "soft", "line", "grey", "never", "accent", "mark", "pick"];
    for (const name of names) this[name] = style.getPropertyValue(`--pmx-${name}`).trim();
    this.dark = style.getPropertyValue("--pmx-dark").trim() === "1";
    this.font = `12px ${style.fontFamily}`;
    this.small = `11px ${style.fontFamily}`;
    const now = JSON.stringify([names.map((name) => this[name]), this.dark]);
    const changed = now !== this.last;
    this.last = now;
    return changed;
  }
}

/** A tooltip that follows the pointer inside a box. */
class Tip {
  constructor(box) {
    this.box = box;
    this.node = el("div", { class: "pmx-tip", hidden: true, "aria-hidden": "true" });
    box.append(this.node);
  }

  show(lines, x, y) {
    this.node.replaceChildren(...lines.map((line) => el("div", { text: line })));
    this.node.hidden = false;
    const right = x + 16 + this.node.offsetWidth > this.box.clientWidth;
    const low = y + 16 + this.node.offsetHeight > this.box.clientHeight;
    this.node.style.left = `${Math.max(0, right ? x - 12 - this.node.offsetWidth : x + 14)}px`;
    this.node.style.top = `${Math.max(0, low ? y - 12 - this.node.offsetHeight : y + 14)}px`;
  }

  hide() {
    this.node.hidden = true;
  }
}
