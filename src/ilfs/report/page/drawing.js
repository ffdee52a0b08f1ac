// Small helpers for HTML and SVG, and the charts that depend on what the reader chooses.
"use strict";

const SVG_NAMESPACE = "http://www.w3.org/2000/svg";
const N_COLOURS = 10;
const MAX_STRIPS = 15; // classes in a plot of values

function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG_NAMESPACE, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

function svgText(x, y, text, anchor, kind) {
  return svgElement("text", { x: x.toFixed(1), y: y.toFixed(1), "text-anchor": anchor, class: kind }, text);
}

function chart(title, width, height, ...children) {
  const attributes = { class: "chart", viewBox: `0 0 ${width} ${height}`, role: "img" };
  return svgElement("svg", attributes, svgElement("title", {}, title), ...children);
}

// A small bar beside a number, for a fraction from 0 to 1.
function smallBar(fraction) {
  const bar = element("span");
  bar.style.width = `${(100 * Math.min(Math.max(fraction, 0), 1)).toFixed(1)}%`;
  return element("span", { class: "small-bar", "aria-hidden": "true" }, bar);
}

// Round values between two ends: multiples of 1, 2 or 5 times a power of ten.
function roundTicks(low, high, most = 6) {
  const rough = (high - low) / (most - 1);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((m) => m * power).find((one) => one >= rough * (1 - 1e-9));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k <= high / step + 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

function tickText(value) {
  const size = Math.abs(value);
  const text = value === 0 ? "0" : size >= 1e7 || size < 1e-4 ? value.toExponential(0).replace("+", "")
    : value.toLocaleString("en-US", { maximumSignificantDigits: 6 });
  return text.replaceAll("-", "−");
}

function span(values) {
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    if (value < low) low = value;
    if (value > high) high = value;
  }
  if (low > high) return [0, 1];
  const pad = 0.04 * (high - low) || Math.abs(high) / 2 || 0.5;
  return [low - pad, high + pad];
}

function scale([low, high], start, end) {
  return (value) => start + ((end - start) * (value - low)) / (high - low);
}

// Numbers between 0 and 1 that look random and are always the same.
function scattered(k) {
  return ((Math.imul(k + 1, 2654435761) >>> 0) % 10007) / 10007;
}

function horizontalAxis(limits, left, right, bottom, title) {
  const x = scale(limits, left, right);
  const ticks = roundTicks(...limits);
  return [
    svgElement("path", { class: "grid", d: ticks.map((tick) => `M${x(tick).toFixed(1)} 4V${bottom}`).join("") }),
    ...ticks.map((tick) => svgText(x(tick), bottom + 16, tickText(tick), "middle", "tick")),
    svgText((left + right) / 2, bottom + 36, shortened(title, 50), "middle", "axis-title"),
  ];
}

// Of many classes, those with the largest medians.
function classesToDraw(quantiles) {
  const classes = quantiles.map((_, k) => k);
  if (classes.length <= MAX_STRIPS) return classes;
  const median = quantiles.map((one) => (Number.isNaN(one[2]) ? -Infinity : one[2]));
  return classes.sort((a, b) => median[b] - median[a]).slice(0, MAX_STRIPS).sort((a, b) => a - b);
}

// Values of one feature by class: all points of the kept rows, and boxes of the quartiles of all rows.
function stripPlot(name, everyLabel, codes, values, quantiles) {
  const drawn = classesToDraw(quantiles);
  const labels = drawn.map((k) => everyLabel[k]);
  const width = 420;
  const strip = labels.length > 4 ? 34 : 44;
  const left = 12 + 6.4 * Math.max(...labels.map((label) => shortened(label, 16).length));
  const bottom = 4 + strip * labels.length;
  const limits = span([...values, ...quantiles.flatMap((one) => Array.from(one))]);
  const x = scale(limits, left, width - 12);
  const parts = horizontalAxis(limits, left, width - 12, bottom, name);
  labels.forEach((label, k) => {
    const y = 4 + strip * (k + 0.5);
    const spread = strip * 0.3;
    const dots = [];
    values.forEach((value, row) => {
      if (codes[row] !== drawn[k] || Number.isNaN(value)) return;
      dots.push(`M${x(value).toFixed(1)} ${(y + spread * (2 * scattered(row) - 1)).toFixed(1)}h0`);
    });
    parts.push(svgText(left - 8, y + 4, shortened(label, 16), "end", "name"));
    parts.push(svgElement("path", { class: `dots s${k % N_COLOURS}`, d: dots.join("") }));
    parts.push(boxPath(quantiles[drawn[k]], x, y, strip * 0.22, k));
  });
  return chart(`Values of ${shortened(name, 60)} by class`, width, bottom + 42, ...parts);
}

function boxPath(quantiles, x, y, half, k) {
  const [low, first, median, third, high] = Array.from(quantiles, (value) => x(value).toFixed(1));
  const d = Number.isNaN(quantiles[0]) ? "" :
    `M${low} ${y}H${first}M${first} ${y - half}H${third}v${2 * half}H${first}zM${third} ${y}H${high}M${median} ${y - half}v${2 * half}`;
  return svgElement("path", { class: `box s${k % N_COLOURS}`, d });
}

// Class means of one feature, if its values are not in the page.
function meansPlot(name, labels, means) {
  const width = 420;
  const left = 12 + 6.4 * Math.max(...labels.map((label) => shortened(label, 16).length));
  const bottom = 4 + 26 * labels.length;
  const limits = span(means);
  const x = scale(limits, left, width - 60);
  const parts = horizontalAxis(limits, left, width - 60, bottom, `class means of ${name}`);
  labels.forEach((label, k) => {
    const y = 4 + 26 * (k + 0.5);
    parts.push(svgText(left - 8, y + 4, shortened(label, 16), "end", "name"));
    if (Number.isNaN(means[k])) return;
    parts.push(svgElement("circle", { class: `dot s${k % N_COLOURS}`, cx: x(means[k]).toFixed(1), cy: y, r: 5 }));
    parts.push(svgText(width, y + 4, numberText(means[k], ""), "end", "tick"));
  });
  return chart(`Class means of ${shortened(name, 60)}`, width, bottom + 42, ...parts);
}

// Fractions of the samples in each interval of the evidence.
function tokenPlot(fractions, edges) {
  const [width, height, left, bottom] = [420, 170, 40, 122];
  const largest = Math.max(...fractions, 0.2);
  const y = scale([0, largest], bottom, 12);
  const slot = (width - left - 12) / fractions.length;
  const ticks = roundTicks(0, largest, 4);
  const parts = [
    svgElement("path", { class: "grid", d: ticks.map((tick) => `M${left} ${y(tick).toFixed(1)}H${width - 12}`).join("") }),
    ...ticks.map((tick) => svgText(left - 7, y(tick) + 4, `${Math.round(100 * tick)} %`, "end", "tick")),
    svgText((left + width) / 2, height - 8, "how well the feature represents a sample", "middle", "axis-title"),
  ];
  fractions.forEach((fraction, k) => {
    const x = left + slot * k;
    const [top, wide] = [y(fraction), slot - 4];
    parts.push(svgElement("rect", { class: "bar s0", x: x + 2, y: top, width: wide, height: bottom - top, rx: 1.5 }));
    parts.push(svgText(x + slot / 2, bottom + 16, `${edges[k].toFixed(2)}–${edges[k + 1].toFixed(2)}`, "middle", "tick small"));
  });
  return chart("Token histogram", width, height, ...parts);
}

// Effect against certainty of all features. Points of one kind are one path of round dots, so that 20,000 are fast.
class VolcanoPlot {
  constructor(figure, data, onChoose) {
    this.data = data;
    this.effect = columnOf(data, "effect").values;
    const q = columnOf(data, "q_value");
    this.height = q ? Float32Array.from(q.values, (value) => -Math.log10(Math.max(value, 1e-300))) : columnOf(data, "score").values;
    this.size = [460, 320];
    const [left, right, top, bottom] = [52, 448, 24, 274];
    this.xLimits = span(this.effect);
    const level = -Math.log10(data.fdr);
    // The line of the false discovery rate is inside the plot, even if no q-value is near it.
    this.yLimits = q ? [0, Math.max(span(this.height)[1], 1.04 * level)] : span(this.height);
    this.x = scale(this.xLimits, left, right);
    this.y = scale(this.yLimits, bottom, top);
    this.groups = ["others", "chosen"].map((kind) => svgElement("path", { class: `cloud ${kind}` }));
    this.ring = svgElement("circle", { class: "ring", r: 7, cx: -20, cy: -20 });
    const yTicks = roundTicks(...this.yLimits);
    this.svg = chart("Effect against certainty", ...this.size,
      svgElement("path", { class: "grid", d: yTicks.map((tick) => `M${left} ${this.y(tick).toFixed(1)}H${right}`).join("") }),
      ...yTicks.map((tick) => svgText(left - 7, this.y(tick) + 4, tickText(tick), "end", "tick")),
      ...roundTicks(...this.xLimits).map((tick) => svgText(this.x(tick), bottom + 18, tickText(tick), "middle", "tick")),
      svgText((left + right) / 2, bottom + 38, data.classes.length === 2
        ? `effect: ← higher in ${shortened(data.classes[0], 14)} · higher in ${shortened(data.classes[1], 14)} →`
        : "effect, in standard deviations", "middle", "axis-title"),
      svgText(0, 10, q ? "−log₁₀ q-value" : "score", "start", "axis-title"),
      ...(q ? [svgElement("path", { class: "mark", d: `M${left} ${this.y(level).toFixed(1)}H${right}` })] : []),
      ...this.groups, this.ring);
    this.svg.setAttribute("tabindex", "0");
    this.svg.classList.add("clickable");
    this.svg.addEventListener("click", (event) => this.choose(this.nearest(event), onChoose));
    this.svg.addEventListener("mousemove", (event) => this.hint(this.nearest(event)));
    this.svg.addEventListener("keydown", (event) => this.onKey(event, onChoose));
    this.tip = svgText(0, 0, "", "start", "hint");
    this.svg.append(this.tip);
    this.current = 0;
    figure.prepend(this.svg);
  }

  place(k) {
    const height = Math.min(this.height[k], this.yLimits[1]);
    return [this.x(Math.min(Math.max(this.effect[k], this.xLimits[0]), this.xLimits[1])), this.y(height)];
  }

  isDrawn(k) {
    return !Number.isNaN(this.effect[k]) && !Number.isNaN(this.height[k]);
  }

  draw(chosen) {
    const paths = [[], []];
    for (let k = 0; k < this.data.n; k++) {
      if (!this.isDrawn(k)) continue;
      const [x, y] = this.place(k);
      paths[chosen[k] ? 1 : 0].push(`M${x.toFixed(1)} ${y.toFixed(1)}h0`);
    }
    this.groups.forEach((group, kind) => group.setAttribute("d", paths[kind].join("")));
  }

  nearest(event) {
    const box = this.svg.getBoundingClientRect();
    const factor = this.size[0] / box.width;
    const [px, py] = [(event.clientX - box.left) * factor, (event.clientY - box.top) * factor];
    let [best, least] = [-1, 14 * 14];
    for (let k = 0; k < this.data.n; k++) {
      if (!this.isDrawn(k)) continue;
      const [x, y] = this.place(k);
      const distance = (x - px) ** 2 + (y - py) ** 2;
      if (distance < least) [best, least] = [k, distance];
    }
    return best;
  }

  hint(k) {
    if (k < 0) return void (this.tip.textContent = "");
    const [x, y] = this.place(k);
    const isRight = x > this.size[0] / 2;
    this.tip.setAttribute("x", isRight ? x - 9 : x + 9);
    this.tip.setAttribute("y", Math.max(y - 7, 10));
    this.tip.setAttribute("text-anchor", isRight ? "end" : "start");
    this.tip.textContent = shortened(this.data.names[k], 32);
  }

  mark(k) {
    const [x, y] = k >= 0 && this.isDrawn(k) ? this.place(k) : [-20, -20];
    this.ring.setAttribute("cx", x.toFixed(1));
    this.ring.setAttribute("cy", y.toFixed(1));
    this.current = Math.max(k, 0);
  }

  choose(k, onChoose) {
    if (k >= 0) onChoose(k);
  }

  // The arrow keys go along the ranking.
  onKey(event, onChoose) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = Math.min(Math.max(this.current + step, 0), this.data.n - 1);
    onChoose(next, false);
    this.hint(next);
  }
}

// Moves the line of the cut in charts whose horizontal axis is the rank.
function moveCut(size) {
  for (const svg of document.querySelectorAll("figure.by-rank svg")) {
    const [low, high, start, end, kind] = svg.dataset.x.split(" ").map((word, k) => (k < 4 ? Number(word) : word));
    const [bottom, top] = svg.dataset.y.split(" ").slice(2, 4);
    const at = (value) => (kind === "log" ? Math.log10(value) : value);
    const line = svg.querySelector(".cut") ?? svg.appendChild(svgElement("path", { class: "mark cut" }));
    const x = Number(start) + ((end - start) * (at(Math.max(size, low)) - at(low))) / (at(high) - at(low));
    line.setAttribute("d", size > 0 && size <= high ? `M${x.toFixed(1)} ${bottom}V${top}` : "");
  }
}

// Says what is under the pointer in the map of correlations, which is too large for a tooltip at each square.
function readMap(figure, data) {
  const svg = figure.querySelector("svg");
  const [left, top, width, height] = svg.dataset.grid.split(" ").map(Number);
  const n = data.map.places.length;
  const caption = figure.querySelector("figcaption");
  const usual = caption.textContent;
  svg.addEventListener("mousemove", (event) => {
    const box = svg.getBoundingClientRect();
    const factor = svg.viewBox.baseVal.width / box.width;
    const j = Math.floor(((event.clientX - box.left) * factor - left) / width);
    const i = Math.floor(((event.clientY - box.top) * factor - top) / height);
    if (i < 0 || j < 0 || i >= n || j >= n) return void (caption.textContent = usual);
    const [a, b] = [i, j].map((k) => shortened(data.names[data.map.places[k]], 40));
    caption.textContent = `${a} and ${b}: correlation ${numberText(data.map.correlation[i * n + j], "effect")}`;
  });
  svg.addEventListener("mouseleave", () => (caption.textContent = usual));
}
