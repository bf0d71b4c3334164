// The interval chart of one column: a bar a file, sorted, and the range of the predicate as a band.

const TALLEST = 300; // Of the plot, in CSS pixels.
const ROOMY_BAR = 14;
const RULER = 5; // The strip above the plot that marks the ranges of the predicate.
const LABELS = 22;
const DENSITY = 34; // The strip that counts files where a bar is less than a pixel.
const FEW = 50; // So many files are seen without a zoom.
const STEPS_APART = 200; // Ends in the same one of so many steps of the axis look the same.

class Chart {
  /** `chosen` is called with the file that the user selects. */
  constructor(files, axis, chosen) {
    this.files = files;
    this.axis = axis;
    this.chosen = chosen;
    this.#place();
    this.figure = this.#build();
    this.current = null; // A place in the order.
  }

  /** Positions of both ends, the files in order, and the axis from end to end. */
  #place() {
    const { count } = this.files;
    const half = this.axis.kind === "rank" ? 0.5 : 0; // A word has a cell, a number a point.
    this.lower = Float64Array.from(this.axis.lower, (v) => this.axis.at(v) - half);
    this.upper = Float64Array.from(this.axis.upper, (v) => this.axis.at(v) + half);
    const bounded = [];
    for (let file = 0; file < count; file += 1) {
      if (!Number.isNaN(this.lower[file]) || !Number.isNaN(this.upper[file])) bounded.push(file);
    }
    this.bounded = Uint32Array.from(bounded);
    this.ranges = this.axis.ranges.map(([low, high]) => this.axis.kind === "rank"
      ? [low ?? -Infinity, high ?? Infinity]
      : [low === null ? -Infinity : this.axis.at(low), high === null ? Infinity : this.axis.at(high)]);
    this.#stretch();
    this.near = this.#nearby();
    this.look(this.near !== null);
  }

  /** The part of the axis around what the predicate asks for, if it leaves out most files; else null. */
  #nearby() {
    const [from, to] = this.whole;
    if (this.bounded.length <= FEW || this.ranges.length === 0) return null;
    const low = Math.min(...this.ranges.map(([end]) => (Number.isFinite(end) ? end : from)));
    const high = Math.max(...this.ranges.map(([, end]) => (Number.isFinite(end) ? end : to)));
    const margin = Math.max(high - low, (to - from) * 0.01);
    const near = [Math.max(low - margin, from), Math.min(high + margin, to)];
    const count = this.#within(near).length;
    return count > 0 && count * 2 < this.bounded.length ? near : null;
  }

  /** The files that reach into a part of the axis; those without an end reach to the edge. */
  #within([from, to]) {
    return this.bounded.filter((file) => !(this.upper[file] < from) && !(this.lower[file] > to));
  }

  /** Show the part of the axis around the predicate's ranges, or all of it. */
  look(near) {
    this.zoomed = near;
    [this.from, this.to] = near ? this.near : this.whole;
    this.order = this.#sorted(near ? this.#within(this.near) : this.bounded);
    this.current = null;
  }

  /** By both ends. Where bars are thinner than a pixel, files that look the same are sorted by their fate: each is one block. */
  #sorted(chosen) {
    const { fates } = this.files;
    const start = this.lower.map((v) => (Number.isNaN(v) ? -Infinity : v));
    const end = this.upper.map((v) => (Number.isNaN(v) ? Infinity : v));
    const exactly = (a, b) => compare(start[a], start[b]) || compare(end[a], end[b]) || fates[b] - fates[a] || a - b;
    if (chosen.length <= TALLEST) return chosen.slice().sort(exactly);
    const [from, width] = [this.from, (this.to - this.from) / STEPS_APART];
    const step = (ends) => ends.map((v) => Math.min(Math.max(Math.floor((v - from) / width), -1), STEPS_APART));
    const [starts, stops] = [step(start), step(end)];
    return chosen.slice().sort((a, b) => compare(starts[a], starts[b]) || compare(stops[a], stops[b]) || fates[b] - fates[a] || exactly(a, b));
  }

  /** The finite bounds, and the ranges of the predicate, unless they lie so far off that they would squeeze the bounds. */
  #stretch() {
    let [from, to] = [Infinity, -Infinity];
    for (const file of this.bounded) {
      for (const end of [this.lower[file], this.upper[file]]) {
        if (Number.isFinite(end)) [from, to] = [Math.min(from, end), Math.max(to, end)];
      }
    }
    const span = Math.max(to - from, 0);
    for (const end of this.ranges.flat()) {
      if (!Number.isFinite(end)) continue;
      if (from > to) [from, to] = [end, end];
      else if (end >= from - span && end <= to + span) [from, to] = [Math.min(from, end), Math.max(to, end)];
    }
    if (from > to) [from, to] = [0, 1];
    const margin = (to - from) * 0.02 || Math.abs(to) * 0.01 || 1;
    this.whole = [from - margin, to + margin];
  }

  #build() {
    const { axis, order } = this;
    const id = `axis-${axis.name}`;
    this.summary = this.#summary();
    this.canvas = make("canvas", { tabindex: "0", role: "slider", "aria-orientation": "vertical", "aria-label": `Files by ${axis.name}`,
      "aria-valuemin": "1", "aria-valuemax": String(Math.max(order.length, 1)), "aria-valuenow": "1", "aria-valuetext": this.summary });
    this.output = make("output", { "aria-live": "off", class: "resting" }, this.summary);
    this.canvas.addEventListener("pointermove", (event) => this.#show(this.#placeAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.#show(null));
    this.canvas.addEventListener("click", (event) => this.#choose(this.#placeAt(event)));
    this.canvas.addEventListener("keydown", (event) => this.#key(event));
    const says = make("p", { class: "says" });
    if (axis.says === null) says.append("What the predicate asks of it is no range, so that no band is drawn.");
    else says.append("The predicate asks for ", make("b", {}, axis.says));
    this.zoom = make("button", { type: "button", class: "zoom" }, this.#offer());
    this.zoom.hidden = this.near === null;
    this.zoom.addEventListener("click", () => this.#toggle());
    this.colours = ["ink", "soft", "rule", "accent"].map((name) => make("i", { class: name, hidden: "" }));
    return make("figure", { class: "chart", "data-axis": id },
      make("h3", {}, axis.name, " ", make("span", {}, axis.type + (axis.partitioned ? ", from partition values" : ""))),
      says, this.zoom, this.canvas, make("figcaption", {}, this.output), ...this.colours);
  }

  /** How many files are drawn, and of a zoom how many lie elsewhere. */
  #summary() {
    const { count } = this.files;
    const bounded = this.bounded.length;
    const without = count - bounded;
    const all = `${countText(bounded)} of ${countText(count)} files have bounds${bounded ? ` ${this.#reach()}` : ""}`
      + (without ? "; the others are not drawn." : ".");
    const near = this.zoomed ? ` ${countText(this.order.length)} of them reach into what is shown.` : "";
    return all + near + (this.dense ? ` The strip counts the files at each value: at most ${countText(this.#deepest())}.` : "");
  }

  #offer() {
    return this.zoomed ? "Show the whole axis" : "Zoom to what the predicate asks for";
  }

  #toggle() {
    this.look(!this.zoomed);
    this.zoom.textContent = this.#offer();
    this.summary = this.#summary();
    this.output.textContent = this.summary;
    this.output.classList.add("resting");
    this.canvas.setAttribute("aria-valuemax", String(Math.max(this.order.length, 1)));
    this.canvas.setAttribute("aria-valuenow", "1");
    this.canvas.setAttribute("aria-valuetext", this.summary);
    this.draw();
  }

  /** Whether a bar is less than a pixel high. */
  get dense() {
    return this.order.length > TALLEST;
  }

  /** The most files whose bounds hold one value of what is shown. */
  #deepest() {
    return this.#cover(400).all.reduce((most, count) => Math.max(most, count), 0);
  }

  /** How many files hold the values of each of so many steps of the axis: all, and those that are read. */
  #cover(steps) {
    const plot = { left: 0, width: steps };
    const [all, read] = [new Int32Array(steps + 1), new Int32Array(steps + 1)];
    for (const file of this.order) {
      const [start, end] = this.#bar(file, plot, 1);
      const first = Math.min(Math.max(Math.floor(start), 0), steps - 1);
      const last = Math.min(Math.max(Math.ceil(end), first + 1), steps);
      for (const counts of FATES[this.files.fates[file]] in READ_FATES ? [all, read] : [all]) {
        counts[first] += 1;
        counts[last] -= 1;
      }
    }
    for (const counts of [all, read]) {
      for (let at = 1; at <= steps; at += 1) counts[at] += counts[at - 1];
    }
    return { all, read };
  }

  /** `from 18 to 65`. */
  #reach() {
    let [least, greatest] = [null, null];
    for (const file of this.bounded) {
      if (!Number.isNaN(this.lower[file]) && (least === null || this.lower[file] < this.lower[least])) least = file;
      if (!Number.isNaN(this.upper[file]) && (greatest === null || this.upper[file] > this.upper[greatest])) greatest = file;
    }
    const parts = [];
    if (least !== null) parts.push(`from ${this.axis.text(this.axis.lower[least])}`);
    if (greatest !== null) parts.push(`to ${this.axis.text(this.axis.upper[greatest])}`);
    return parts.join(" ");
  }

  /** Height of the plot in CSS pixels: room for each bar while they are few. */
  get height() {
    return Math.min(Math.max(this.order.length * ROOMY_BAR, 2 * ROOMY_BAR), TALLEST);
  }

  /** From the top of the canvas to the first bar, in CSS pixels. */
  get top() {
    return RULER + (this.dense ? DENSITY : 0);
  }

  /** Everything anew: the size or the colours have changed. */
  draw() {
    const ratio = window.devicePixelRatio || 1;
    const width = this.canvas.clientWidth;
    if (width === 0) return;
    this.canvas.width = Math.round(width * ratio);
    this.canvas.height = Math.round((this.top + this.height + LABELS) * ratio);
    this.ink = Object.fromEntries(this.colours.map((probe) => [probe.className, getComputedStyle(probe).color]));
    const plot = { left: 0, top: Math.round(this.top * ratio), width: this.canvas.width, height: Math.round(this.height * ratio), ratio };
    this.plot = plot;
    this.picture = make("canvas", { width: this.canvas.width, height: this.canvas.height });
    const context = this.picture.getContext("2d");
    if (this.order.length > plot.height) this.#manyBars(context, plot);
    else this.#fewBars(context, plot);
    if (this.dense) this.#density(context, plot);
    this.#band(context, plot);
    context.globalCompositeOperation = "destination-over"; // Behind the bars.
    this.#ticks(context, plot);
    this.#point();
  }

  /** The picture, with a frame around the current bar. */
  #point() {
    const context = this.canvas.getContext("2d");
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    context.drawImage(this.picture, 0, 0);
    if (this.current !== null) this.#mark(context, this.plot);
  }

  #x(position, plot) {
    const x = plot.left + ((position - this.from) / (this.to - this.from)) * plot.width;
    return Math.min(Math.max(x, plot.left), plot.left + plot.width);
  }

  /** A file's bar, from pixel to pixel; at least one wide, and to the edge where an end is unknown. */
  #bar(file, plot, least) {
    const start = Number.isNaN(this.lower[file]) ? plot.left : this.#x(this.lower[file], plot);
    const end = Number.isNaN(this.upper[file]) ? plot.left + plot.width : this.#x(this.upper[file], plot);
    const lack = Math.max(least - (end - start), 0) / 2;
    return [start - lack, end + lack];
  }

  #fewBars(context, plot) {
    const { ratio } = plot;
    const step = plot.height / this.order.length;
    const gap = step >= 6 * ratio ? step * 0.35 : step >= 2 * ratio ? ratio * 0.5 : 0;
    const colours = fateColours();
    this.order.forEach((file, place) => {
      const [start, end] = this.#bar(file, plot, 2 * ratio);
      context.fillStyle = colours[this.files.fates[file]];
      context.fillRect(start, plot.top + place * step + gap / 2, end - start, Math.max(step - gap, 1));
    });
  }

  /** More files than rows of pixels: each row shows where its files lie, darker where more do. */
  #manyBars(context, plot) {
    const { width, height } = plot;
    const image = context.createImageData(width, height);
    const pixels = new Uint32Array(image.data.buffer);
    const crowd = this.order.length / height;
    fateColours().forEach((colour, fate) => {
      const change = this.#tally(fate, plot);
      if (change === null) return;
      const [red, green, blue] = channels(colour);
      const opaque = (blue << 16) | (green << 8) | red; // As image data has it on every machine of today.
      for (let y = 0; y < height; y += 1) {
        let cover = 0;
        for (let x = 0; x < width; x += 1) {
          cover += change[y * (width + 1) + x];
          if (cover > 0) pixels[y * width + x] = opaque | (Math.round(127.5 + 127.5 * Math.min(1, cover / crowd)) << 24);
        }
      }
    });
    context.putImageData(image, plot.left, plot.top);
  }

  /** Where bars of one fate begin (+1) and end (-1), row by row; null where there is none. */
  #tally(fate, plot) {
    const { fates } = this.files;
    const { width, height } = plot;
    const change = new Int32Array(height * (width + 1));
    const count = this.order.length;
    let any = false;
    for (let place = 0; place < count; place += 1) {
      const file = this.order[place];
      if (fates[file] !== fate) continue;
      any = true;
      const row = Math.floor((place * height) / count) * (width + 1);
      const [start, end] = this.#bar(file, plot, 1);
      const first = Math.min(Math.max(Math.floor(start - plot.left), 0), width - 1);
      change[row + first] += 1;
      change[row + Math.min(Math.max(Math.ceil(end - plot.left), first + 1), width)] -= 1;
    }
    return any ? change : null;
  }

  /** The strip above the bars: how many files hold each value, and how many of them are read. */
  #density(context, plot) {
    const { ratio, width } = plot;
    const [low, tall] = [plot.top - 8 * ratio, (DENSITY - 10) * ratio];
    const { all, read } = this.#cover(width);
    const most = all.reduce((a, b) => Math.max(a, b), 1);
    const colours = fateColours();
    for (const [counts, colour, alpha] of [[all, this.ink.soft, 0.45], [read, colours[FATES.indexOf("some")], 1]]) {
      context.fillStyle = colour;
      context.globalAlpha = alpha;
      for (let x = 0; x < width; x += 1) {
        const high = counts[x] ? Math.max((counts[x] / most) * tall, ratio) : 0;
        context.fillRect(plot.left + x, low - high, 1, high);
      }
    }
    context.globalAlpha = 1;
  }

  #band(context, plot) {
    const { ratio } = plot;
    for (const [low, high] of this.ranges) {
      if (high < this.from || low > this.to) continue;
      let [start, end] = [this.#x(low, plot), this.#x(high, plot)];
      const lack = Math.max(3 * ratio - (end - start), 0) / 2;
      [start, end] = [Math.round(start - lack), Math.round(end + lack)];
      context.fillStyle = this.ink.accent;
      context.fillRect(start, 0, end - start, 3 * ratio);
      context.globalAlpha = 0.14;
      context.fillRect(start, 3 * ratio, end - start, plot.top + plot.height - 3 * ratio);
      context.globalAlpha = 0.85;
      if (low >= this.from) context.fillRect(start, 0, ratio, plot.top + plot.height);
      if (high <= this.to) context.fillRect(end - ratio, 0, ratio, plot.top + plot.height);
      context.globalAlpha = 1;
    }
  }

  #ticks(context, plot) {
    const { ratio } = plot;
    const bottom = plot.top + plot.height;
    context.font = `${11 * ratio}px ${getComputedStyle(document.body).fontFamily}`;
    context.textBaseline = "bottom";
    context.fillStyle = this.ink.rule;
    context.fillRect(plot.left, bottom, plot.width, ratio);
    let free = -Infinity;
    for (const { at, label } of this.axis.ticks(this.from, this.to, Math.max(2, Math.floor(plot.width / ratio / 90)))) {
      const x = this.#x(at, plot);
      const half = context.measureText(label).width / 2;
      const middle = Math.min(Math.max(x, plot.left + half), plot.left + plot.width - half);
      context.fillStyle = this.ink.rule;
      context.fillRect(Math.round(x), plot.top, ratio, plot.height + 4 * ratio);
      if (middle - half < free) continue;
      context.fillStyle = this.ink.soft;
      context.fillText(label, middle - half, bottom + (LABELS - 2) * ratio);
      free = middle + half + 8 * ratio;
    }
  }

  #mark(context, plot) {
    const { ratio } = plot;
    const step = plot.height / this.order.length;
    const [start, end] = this.#bar(this.order[this.current], plot, 2 * ratio);
    const tall = Math.max(step, 3 * ratio);
    context.strokeStyle = this.ink.ink;
    context.lineWidth = ratio;
    context.strokeRect(start + 0.5, plot.top + (this.current + 0.5) * step - tall / 2, end - start - 1, tall);
  }

  #placeAt(event) {
    const y = event.clientY - this.canvas.getBoundingClientRect().top - this.top;
    const place = Math.floor((y / this.height) * this.order.length);
    return place >= 0 && place < this.order.length ? place : null;
  }

  #show(place) {
    if (place === this.current) return;
    this.current = place;
    this.output.textContent = place === null ? this.summary : this.files.line(this.order[place], this.axis);
    this.output.classList.toggle("resting", place === null);
    this.#point();
  }

  #choose(place) {
    if (place !== null) this.chosen(this.order[place]);
  }

  #key(event) {
    const last = this.order.length - 1;
    if (last < 0) return;
    const now = this.current ?? -1;
    const leap = Math.max(1, Math.round(last / 10));
    const to = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1, PageDown: now + leap, PageUp: now - leap, Home: 0, End: last }[event.key];
    if (to !== undefined) {
      const place = Math.min(Math.max(to, 0), last);
      this.#show(place);
      this.canvas.setAttribute("aria-valuenow", String(place + 1));
      this.canvas.setAttribute("aria-valuetext", this.output.textContent);
    } else if (event.key === "Enter") {
      this.#choose(this.current);
    } else if (event.key === "Escape") {
      this.#show(null);
    } else {
      return;
    }
    event.preventDefault();
  }
}

/** The colours of FATES as the theme has them: those of the legend. */
function fateColours() {
  return FATES.map((fate) => getComputedStyle(document.querySelector(`.legend .swatch.${fate}`)).backgroundColor);
}

function channels(colour) {
  return colour.match(/[\d.]+/g).slice(0, 3).map(Number);
}

