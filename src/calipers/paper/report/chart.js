// A small chart: axes, points and lines, tooltips, zoom. Text only ever enters by textContent.
"use strict";

const SVG = "http://www.w3.org/2000/svg";
const SHAPES = [
  "M-4 0a4 4 0 1 0 8 0a4 4 0 1 0-8 0Z", "M-3.6-3.6h7.2v7.2h-7.2Z", "M0-4.8L4.6 3.6h-9.2Z",
  "M0-5.2L4.6 0L0 5.2L-4.6 0Z", "M0 4.8L4.6-3.6h-9.2Z",
  "M-1.6-4.8h3.2v3.2h3.2v3.2h-3.2v3.2h-3.2v-3.2h-3.2v-3.2h3.2Z",
  "M-2.4-4.8L0-2.4L2.4-4.8L4.8-2.4L2.4 0L4.8 2.4L2.4 4.8L0 2.4L-2.4 4.8L-4.8 2.4L-2.4 0L-4.8-2.4Z",
  "M-4.8 0L3.6-4.6v9.2Z", "M4.8 0L-3.6-4.6v9.2Z", "M0-5L4.8-1.5L3-4.2e-1L3 4H-3L-4.8-1.5Z",
];

function element(name, attributes, parent, text) {
  const made = document.createElementNS(SVG, name);
  for (const key in attributes) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

function html(name, parent, attributes, text) {
  const made = document.createElement(name);
  for (const key in attributes || {}) made.setAttribute(key, attributes[key]);
  if (text !== undefined) made.textContent = text;
  if (parent) parent.appendChild(made);
  return made;
}

function marker(series, parent, x, y) {
  const hollow = series.hollow
    ? { fill: "none", stroke: "currentColor", "stroke-width": 1.6 }
    : { fill: "currentColor" };
  const shape = SHAPES[series.shape % SHAPES.length];
  return element("path", { d: shape, transform: `translate(${x} ${y})`, ...hollow }, parent);
}

function shown(value) {
  const size = Math.abs(value);
  if (size >= 1000) return Math.round(value).toLocaleString("en");
  if (size !== 0 && size < 0.001) return value.toExponential(1).replace(".0e", "e").replace("e-", "e−");
  return String(Number(value.toPrecision(3)));
}

// Ticks of a range, in the axis' own units: powers of ten (and 2, 5) on a log axis.
function ticks(low, high, log, room) {
  const found = [];
  if (log) {
    const parts = high - low < 0.6 ? [1, 1.5, 2, 3, 4, 5, 7] : high - low < 2 ? [1, 2, 5] : [1];
    const step = Math.max(1, Math.ceil((high - low) / room));
    for (let power = Math.floor(low); power <= high; power += parts.length > 1 ? 1 : step)
      for (const part of parts) found.push(power + Math.log10(part));
  } else {
    const rough = (high - low) / room;
    const power = Math.pow(10, Math.floor(Math.log10(rough)));
    const step = [1, 2, 5, 10].find((part) => part * power >= rough) * power;
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(k * step);
  }
  return found.filter((tick) => tick >= low && tick <= high);
}

class Chart {
  // spec: title, label, height, x and y {label, log, names}, equal,
  // series [{label, tone, hue, shape, line, hollow, tag, rule, points [[x, y, text]]}]
  constructor(host, spec) {
    this.host = host;
    host.replaceChildren();
    const bar = html("div", host, { class: "bar" });
    html("b", bar, {}, spec.title || "");
    const buttons = html("span", bar);
    const act = (sign, label, work) =>
      html("button", buttons, { type: "button", "aria-label": label, title: label }, sign)
        .addEventListener("click", work);
    if (spec.canLog)
      act("log", "Switch between a linear and a logarithmic axis", () => {
        this.spec.y.log = !this.spec.y.log;
        this.reset();
      });
    act("+", "Zoom in", () => this.zoom(0.6));
    act("−", "Zoom out", () => this.zoom(1 / 0.6));
    act("⤢", "Show all", () => this.reset());
    this.svg = element("svg", { role: "img", tabindex: 0 }, host);
    this.tip = html("div", host, { class: "tip", hidden: "" });
    this.listen();
    this.show(spec);
    new ResizeObserver(() => this.draw()).observe(host);
  }

  show(spec) {
    this.spec = spec;
    this.hidden = this.hidden || new Set();
    this.svg.setAttribute("aria-label", spec.label || spec.title || "chart");
    this.reset();
  }

  reset() {
    this.full = this.extent();
    this.view = [...this.full];
    this.draw();
  }

  visible() {
    return this.spec.series.filter((series) => !this.hidden.has(series.label));
  }

  toUnits(point) {
    const { x, y } = this.spec;
    return [x.log ? Math.log10(point[0]) : point[0], y.log ? Math.log10(point[1]) : point[1]];
  }

  extent() {
    const all = [];
    for (const series of this.visible())
      for (const point of series.points) {
        const [x, y] = this.toUnits(point);
        if (series.rule ? Number.isFinite(y) : Number.isFinite(x) && Number.isFinite(y))
          all.push([series.rule ? NaN : x, y]);
      }
    const range = (values, names) => {
      if (names) return [-0.6, names.length - 0.4];
      const kept = values.filter(Number.isFinite);
      if (!kept.length) return [0, 1];
      const low = Math.min(...kept), high = Math.max(...kept);
      const rim = (high - low) * 0.08 || Math.abs(high) * 0.1 || 1;
      return [low - rim, high + rim];
    };
    const horizontal = range(all.map((p) => p[0]), this.spec.x.names);
    return [...horizontal, ...range(all.map((p) => p[1]), this.spec.y.names)];
  }

  zoom(factor, at) {
    const [x0, x1, y0, y1] = this.view;
    const [cx, cy] = at || [(x0 + x1) / 2, (y0 + y1) / 2];
    const next = [cx + (x0 - cx) * factor, cx + (x1 - cx) * factor,
      cy + (y0 - cy) * factor, cy + (y1 - cy) * factor];
    const [f0, f1, g0, g1] = this.full;
    const wide = next[1] - next[0] > 4 * (f1 - f0) || next[3] - next[2] > 4 * (g1 - g0);
    const tiny = next[1] - next[0] < 1e-9 * (f1 - f0);
    if (!wide && !tiny) this.view = next;
    this.draw();
  }

  pan(dx, dy) {
    const [x0, x1, y0, y1] = this.view;
    this.view = [x0 + dx * (x1 - x0), x1 + dx * (x1 - x0), y0 + dy * (y1 - y0), y1 + dy * (y1 - y0)];
    this.draw();
  }

  box() {
    const width = Math.max(240, this.host.clientWidth || 600);
    const height = this.spec.height || 320;
    const left = this.spec.y.names ? 92 : 64;
    return { width, height, left, right: 14, top: 12, bottom: 44 };
  }

  frame() {
    const { width, height, left, right, top, bottom } = this.box();
    let [x0, x1, y0, y1] = this.view;
    if (this.spec.equal) { // one unit is as long either way
      const w = width - left - right, h = height - top - bottom;
      const unit = Math.max((x1 - x0) / w, (y1 - y0) / h);
      const cx = (x0 + x1) / 2, cy = (y0 + y1) / 2;
      [x0, x1, y0, y1] = [cx - unit * w / 2, cx + unit * w / 2, cy - unit * h / 2, cy + unit * h / 2];
    }
    const px = (x) => left + ((x - x0) / (x1 - x0)) * (width - left - right);
    const py = (y) => height - bottom - ((y - y0) / (y1 - y0)) * (height - top - bottom);
    const back = (h, v) => [
      x0 + ((h - left) / (width - left - right)) * (x1 - x0),
      y0 + ((height - bottom - v) / (height - top - bottom)) * (y1 - y0)];
    return { px, py, back, range: [x0, x1, y0, y1] };
  }

  draw() {
    const { svg, spec } = this;
    const { width, height, left, right, top, bottom } = this.box();
    const { px, py, range } = this.frame();
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    svg.setAttribute("height", height);
    svg.dataset.view = this.view.map((value) => value.toPrecision(6)).join(" ");
    const clip = `clip${(Chart.count = (Chart.count || 0) + 1)}`;
    element("rect", { x: left, y: top, width: width - left - right, height: height - top - bottom },
      element("clipPath", { id: clip }, element("defs", {}, svg)));
    this.axes(px, py, range);
    const inside = element("g", { "clip-path": `url(#${clip})` }, svg);
    this.dots = [];
    for (const series of this.visible()) this.drawSeries(series, inside, px, py);
    this.nameTags(inside, { left, right: width - right, top, bottom: height - bottom });
  }

  axes(px, py, [x0, x1, y0, y1]) {
    const { svg, spec } = this;
    const { width, height, left, right, top, bottom } = this.box();
    const named = (axis, low, high, room) => axis.names
      ? axis.names.map((name, k) => [k, name]).filter(([k]) => k >= low && k <= high)
      : ticks(low, high, axis.log, room)
        .map((tick) => [tick, shown(axis.log ? Math.pow(10, tick) : tick)]);
    for (const [tick, text] of spec.x.bare ? [] : named(spec.x, x0, x1, width / 90)) {
      element("line", { class: "grid", x1: px(tick), x2: px(tick), y1: top, y2: height - bottom }, svg);
      const half = text.length * 3.6, inside = Math.min(px(tick), width - half - 2);
      element("text", { x: inside, y: height - bottom + 16, "text-anchor": "middle" }, svg, text);
    }
    for (const [tick, text] of spec.y.bare ? [] : named(spec.y, y0, y1, height / 50)) {
      element("line", { class: "grid", x1: left, x2: width - right, y1: py(tick), y2: py(tick) }, svg);
      element("text", { x: left - 6, y: py(tick) + 4, "text-anchor": "end" }, svg, text);
    }
    element("text", { x: (left + width - right) / 2, y: height - 8, "text-anchor": "middle" }, svg,
      spec.x.label);
    const middle = (top + height - bottom) / 2;
    element("text", { x: 12, y: middle, "text-anchor": "middle",
      transform: `rotate(-90 12 ${middle})` }, svg, spec.y.names ? "" : spec.y.label);
  }

  drawSeries(series, inside, px, py) {
    const group = element("g", { class: series.tone || "" }, inside);
    if (series.hue !== undefined) group.style.color = `hsl(${series.hue} 65% var(--light))`;
    if (series.rule) {
      const v = py(this.toUnits([1, series.points[0][1]])[1]);
      element("line", { class: "rule", x1: 0, x2: 1e4, y1: v, y2: v }, group);
      this.dots.push({ series, h: null, v, text: series.points[0][2] });
      return;
    }
    const at = series.points.map((point) => {
      const [x, y] = this.toUnits(point);
      return { series, h: px(x), v: py(y), text: point[2] };
    }).filter((dot) => Number.isFinite(dot.h) && Number.isFinite(dot.v));
    if (series.line)
      element("polyline", { points: at.map((dot) => `${dot.h},${dot.v}`).join(" "), fill: "none",
        stroke: "currentColor", "stroke-width": 1.8, "stroke-linejoin": "round" }, group);
    const every = series.line ? Math.max(1, Math.ceil(at.length / 8)) : 1;
    at.forEach((dot, k) => {
      if (k % every === (series.line ? series.shape % every : 0)) marker(series, group, dot.h, dot.v);
    });
    this.dots.push(...at);
  }

  // Write names beside points where there is room; tooltips tell the rest.
  nameTags(inside, limits) {
    const taken = this.dots.filter((dot) => dot.h !== null)
      .map((dot) => [dot.h - 5, dot.v - 5, dot.h + 5, dot.v + 5]);
    const free = (box) => box[0] > limits.left && box[2] < limits.right && box[1] > limits.top &&
      box[3] < limits.bottom && taken.every((other) => box[2] < other[0] || box[0] > other[2] ||
        box[3] < other[1] || box[1] > other[3]);
    for (const dot of this.dots) {
      if (!dot.series.tag || dot.h === null) continue;
      const name = element("text", { class: `tag ${dot.series.tone || ""}` }, inside,
        dot.series.label);
      const w = name.getComputedTextLength() || dot.series.label.length * 7, { h, v } = dot;
      const places = [[h + 8, v - 6], [h - 8 - w, v - 6], [h - w / 2, v - 20], [h - w / 2, v + 8]];
      const place = places.find(([x, y]) => free([x, y, x + w, y + 12]));
      if (!place) {
        name.remove();
        continue;
      }
      taken.push([place[0], place[1], place[0] + w, place[1] + 12]);
      name.setAttribute("x", place[0]);
      name.setAttribute("y", place[1] + 10);
    }
  }

  where(event) {
    const rectangle = this.svg.getBoundingClientRect();
    const scale = this.box().width / rectangle.width;
    return [(event.clientX - rectangle.left) * scale, (event.clientY - rectangle.top) * scale];
  }

  point(event) {
    const [h, v] = this.where(event);
    let best = null, least = 34;
    for (const dot of this.dots) {
      const away = dot.h === null ? Math.abs(dot.v - v) + 12 : Math.hypot(dot.h - h, dot.v - v);
      if (away < least) [best, least] = [dot, away];
    }
    this.tip.hidden = !best;
    if (!best) return;
    this.tip.textContent = best.text;
    const scale = this.svg.getBoundingClientRect().width / this.box().width;
    const across = best.h === null ? h : best.h;
    const room = this.host.clientWidth - this.tip.offsetWidth - 4;
    this.tip.style.left = `${Math.max(4, Math.min(across * scale + 12, room))}px`;
    this.tip.style.top = `${this.svg.offsetTop + best.v * scale + 14}px`;
  }

  listen() {
    const { svg } = this;
    let start = null, band = null;
    svg.addEventListener("pointermove", (event) => {
      this.point(event);
      if (!start) return;
      const [h, v] = this.where(event);
      if (!band && Math.hypot(h - start[0], v - start[1]) > 6)
        band = element("rect", { class: "band" }, svg);
      if (!band) return;
      const sides = { x: Math.min(h, start[0]), y: Math.min(v, start[1]),
        width: Math.abs(h - start[0]), height: Math.abs(v - start[1]) };
      for (const key in sides) band.setAttribute(key, sides[key]);
    });
    svg.addEventListener("pointerdown", (event) => {
      if (event.pointerType === "touch" || event.button !== 0) return;
      start = this.where(event);
      if (event.isTrusted) svg.setPointerCapture(event.pointerId);
    });
    svg.addEventListener("pointerup", (event) => {
      if (start && band) {
        const { back } = this.frame();
        const one = back(...start), other = back(...this.where(event));
        this.view = [Math.min(one[0], other[0]), Math.max(one[0], other[0]),
          Math.min(one[1], other[1]), Math.max(one[1], other[1])];
        this.draw();
      }
      start = band = null;
    });
    svg.addEventListener("pointerleave", () => { this.tip.hidden = true; });
    svg.addEventListener("dblclick", () => this.reset());
    svg.addEventListener("wheel", (event) => { // without Ctrl or focus the page scrolls
      if (!event.ctrlKey && !event.metaKey && document.activeElement !== svg) return;
      event.preventDefault();
      this.zoom(event.deltaY < 0 ? 0.8 : 1.25, this.frame().back(...this.where(event)));
    }, { passive: false });
    const keys = { "+": () => this.zoom(0.8), "-": () => this.zoom(1.25), 0: () => this.reset(),
      ArrowLeft: () => this.pan(-0.1, 0), ArrowRight: () => this.pan(0.1, 0),
      ArrowUp: () => this.pan(0, 0.1), ArrowDown: () => this.pan(0, -0.1) };
    svg.addEventListener("keydown", (event) => {
      if (!keys[event.key]) return;
      event.preventDefault();
      keys[event.key]();
    });
  }

  toggle(label, on) {
    if (on) this.hidden.delete(label);
    else this.hidden.add(label);
    this.draw();
  }
}

// Buttons that switch series off and on in all of the charts.
function keys(host, series, charts) {
  host.replaceChildren();
  for (const one of series) {
    const button = html("button", host, { type: "button", "aria-pressed": "true" });
    const sign = element("svg", { viewBox: "-7 -7 14 14", "aria-hidden": "true",
      class: one.tone || "" }, button);
    if (one.hue !== undefined) sign.style.color = `hsl(${one.hue} 65% var(--light))`;
    if (one.rule) element("line", { class: "rule", x1: -7, x2: 7, y1: 0, y2: 0 }, sign);
    else marker(one, sign, 0, 0);
    html("span", button, {}, one.label);
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      for (const chart of charts()) chart.toggle(one.label, on);
    });
  }
}
