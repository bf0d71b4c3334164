// The file table: sorted and filtered as numbers, with as many rows in the page as can be seen.

const ROW = 28; // CSS pixels, as page.css has it.
const TALLEST_SCROLL = 4e6; // Browsers lose count of pixels far above: beyond it, rows pass by faster.
const SPARE = 8;
const BOUNDS_WIDTH = { time: "23rem", date: "13rem", rank: "12rem", number: "10rem" };

class FileTable {
  constructor(files) {
    this.files = files;
    this.columns = columnsOf(files);
    this.sorting = { column: -1, descending: false };
    this.wanted = new Set(FATES);
    this.reason = "";
    this.needle = "";
    this.rows = Uint32Array.from({ length: files.count }, (_, file) => file);
    this.active = -1; // A place among the rows.
    this.element = make("div", {}, this.#controls(), this.#grid(), this.#details());
  }

  #controls() {
    const search = make("input", { type: "search", placeholder: "Filter by path or partition", "aria-label": "Filter files by path or partition", autocomplete: "off", spellcheck: "false" });
    search.addEventListener("input", () => {
      this.needle = search.value.toLowerCase();
      this.#soon();
    });
    const counts = new Map(FATES.map((fate) => [fate, 0]));
    for (const fate of this.files.fates) counts.set(FATES[fate], counts.get(FATES[fate]) + 1);
    const boxes = [...FATES].reverse().filter((fate) => counts.get(fate)).map((fate) => this.#box(fate, counts.get(fate)));
    this.shown = make("span", { class: "shown", role: "status" });
    return make("div", { class: "controls", role: "search", "aria-label": "Files" }, search, ...boxes, ...this.#reasons(), this.shown);
  }

  #box(fate, count) {
    const box = make("input", { type: "checkbox", "data-fate": fate });
    box.checked = true;
    box.addEventListener("change", () => {
      if (box.checked) this.wanted.add(fate);
      else this.wanted.delete(fate);
      this.#soon();
    });
    const words = { all: "every row matches", some: "some rows may match" }[fate] ?? FATE_WORDS[fate];
    return make("label", {}, box, make("i", { class: `swatch ${fate}` }), `${words} (${countText(count)})`);
  }

  #reasons() {
    const words = this.files.reasons.words.filter((word) => word !== null);
    if (words.length < 2) return [];
    const select = make("select", { "aria-label": "Reason" }, make("option", { value: "" }, "any reason"),
      ...words.map((word) => make("option", { value: word }, word)));
    select.addEventListener("change", () => {
      this.reason = select.value;
      this.#soon();
    });
    return [select];
  }

  #grid() {
    this.heads = this.columns.map((column, at) => {
      const button = make("button", { type: "button", title: column.label, tabindex: "0" }, column.label);
      button.addEventListener("click", () => this.sort(at));
      return make("th", { scope: "col", class: column.number ? "number" : "text", "aria-sort": "none" }, button);
    });
    const widths = this.columns.map((column) => {
      const col = make("col");
      if (column !== this.columns[0]) col.style.width = column.width; // The path has the rest.
      return col;
    });
    this.body = make("tbody");
    this.grid = make("table", { class: "grid", role: "grid", tabindex: "0", "aria-labelledby": "files-title", "aria-colcount": String(this.columns.length), "aria-rowcount": String(this.files.count + 1) },
      make("colgroup", {}, ...widths), make("thead", {}, make("tr", { "aria-rowindex": "1" }, ...this.heads)), this.body);
    this.grid.style.minWidth = `${this.columns.reduce((sum, column) => sum + parseFloat(column.width), 0)}rem`;
    this.scroller = make("div", { class: "scroller" }, this.grid);
    this.scroller.addEventListener("scroll", () => this.#soon("scroll"), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.#key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-place]");
      if (row) this.#activate(Number(row.dataset.place));
    });
    return this.scroller;
  }

  #details() {
    this.detail = make("dl", { class: "detail", "aria-live": "polite", "aria-label": "The chosen file", hidden: "" });
    return this.detail;
  }

  /** Several changes within a frame are one. */
  #soon(what = "filter") {
    this.stale ||= what === "filter";
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      if (this.stale) this.refresh();
      else this.render();
    });
  }

  /** Filter and sort anew. */
  refresh() {
    this.stale = false;
    const { files, wanted, needle } = this;
    const fates = FATES.map((fate) => wanted.has(fate));
    const found = [];
    for (let file = 0; file < files.count; file += 1) {
      if (!fates[files.fates[file]]) continue;
      if (this.reason && files.reasons.of(file) !== this.reason) continue;
      if (needle && !files.searched[file].includes(needle)) continue;
      found.push(file);
    }
    this.rows = Uint32Array.from(found);
    this.#order();
    this.active = -1;
    this.grid.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.shown.textContent = `${countText(this.rows.length)} of ${countText(files.count)} files`;
    this.scroller.scrollTop = 0;
    this.render();
  }

  sort(at) {
    const same = this.sorting.column === at;
    this.sorting = { column: at, descending: same && !this.sorting.descending };
    this.heads.forEach((head, index) => head.setAttribute("aria-sort", index !== at ? "none" : this.sorting.descending ? "descending" : "ascending"));
    this.refresh();
    say(`Sorted by ${this.columns[at].label}, ${this.sorting.descending ? "descending" : "ascending"}`);
  }

  #order() {
    const { column, descending } = this.sorting;
    if (column < 0) return;
    const way = descending ? -1 : 1;
    if (this.columns[column].compare) {
      const order = this.columns[column].compare;
      this.rows.sort((a, b) => way * order(a, b) || a - b);
      return;
    }
    const key = this.columns[column].key;
    const keys = new Array(this.files.count);
    for (const file of this.rows) keys[file] = key(file);
    // What is not known comes last, whichever way.
    const missing = (k) => k === null || Number.isNaN(k);
    this.rows.sort((a, b) => {
      const [x, y] = [keys[a], keys[b]];
      if (missing(x) || missing(y)) return missing(x) - missing(y) || a - b;
      return way * compare(x, y) || a - b;
    });
  }

  /** The height of all rows, or as much as a browser can scroll. */
  get #tall() {
    return Math.min(this.rows.length * ROW, TALLEST_SCROLL);
  }

  get #view() {
    return Math.max(this.scroller.clientHeight - this.grid.tHead.offsetHeight, ROW);
  }

  #firstSeen() {
    const all = this.rows.length * ROW - this.#view;
    const scrollable = this.#tall - this.#view;
    if (all <= 0 || scrollable <= 0) return 0;
    return Math.floor(((Math.min(this.scroller.scrollTop, scrollable) / scrollable) * all) / ROW);
  }

  render() {
    const seen = Math.ceil(this.#view / ROW) + 1;
    const first = Math.max(this.#firstSeen() - SPARE, 0);
    const last = Math.min(first + seen + 2 * SPARE, this.rows.length);
    const drawn = [];
    for (let place = first; place < last; place += 1) drawn.push(this.#row(place));
    const squeezed = this.rows.length * ROW > TALLEST_SCROLL;
    const above = squeezed ? Math.max(Math.min(this.scroller.scrollTop - (this.#firstSeen() - first) * ROW, this.#tall - drawn.length * ROW), 0) : first * ROW;
    this.body.replaceChildren(space(above), ...drawn, space(this.#tall - above - drawn.length * ROW));
    const active = this.active >= first && this.active < last ? `row-${this.active}` : null;
    if (active) this.grid.setAttribute("aria-activedescendant", active);
    else this.grid.removeAttribute("aria-activedescendant");
  }

  #row(place) {
    const file = this.rows[place];
    const row = make("tr", { id: `row-${place}`, "data-place": place, "aria-rowindex": place + 2, "aria-selected": place === this.active });
    for (const column of this.columns) {
      const cell = make("td", { class: column.number ? "number" : "text" });
      column.fill(cell, file);
      row.append(cell);
    }
    return row;
  }

  #key(event) {
    if (event.target !== this.grid) return;
    const last = this.rows.length - 1;
    const page = Math.max(Math.floor(this.#view / ROW) - 1, 1);
    const now = this.active;
    const to = { ArrowDown: now + 1, ArrowUp: now - 1, PageDown: now + page, PageUp: now - page, Home: 0, End: last }[event.key];
    if (to === undefined || last < 0) return;
    event.preventDefault();
    this.#activate(Math.min(Math.max(to, 0), last));
  }

  #activate(place) {
    this.active = place;
    this.#reveal(place);
    this.render();
    this.#describe(this.rows[place]);
  }

  /** Scroll just as far as the row needs to be seen. */
  #reveal(place) {
    const all = this.rows.length * ROW - this.#view;
    if (all <= 0) return;
    const scale = (this.#tall - this.#view) / all;
    const [top, bottom] = [place * ROW, (place + 1) * ROW - this.#view];
    const now = this.scroller.scrollTop / scale;
    if (now > top) this.scroller.scrollTop = top * scale;
    else if (now < bottom) this.scroller.scrollTop = bottom * scale;
  }

  /** A file from elsewhere: in the list, or alone where the filter hides it. */
  choose(file) {
    let place = this.rows.indexOf(file);
    if (place < 0) {
      this.clear();
      place = this.rows.indexOf(file);
    }
    this.#activate(place);
    this.grid.focus({ preventScroll: true });
    this.element.scrollIntoView({ block: "nearest" });
  }

  clear() {
    [this.needle, this.reason] = ["", ""];
    this.wanted = new Set(FATES);
    for (const field of this.element.querySelectorAll("input[type=search], select")) field.value = "";
    for (const box of this.element.querySelectorAll("input[type=checkbox]")) box.checked = true;
    this.refresh();
  }

  #describe(file) {
    const { files } = this;
    const copy = make("button", { type: "button", class: "copy", "aria-label": "Copy the path" }, "Copy");
    makeCopy(copy, () => files.path(file));
    const facts = [
      ["path", [make("code", {}, files.path(file)), copy]],
      ["size", `${sizeText(files.bytes[file])}${files.rows[file] === null ? "" : `, ${countText(files.rows[file])} rows`}`],
      ["partition", files.partitionText(file)],
      ...files.axes.filter((axis) => !axis.partitioned && axis.range(file) !== null).map((axis) => [axis.name, axis.range(file)]),
      ["verdict", [FATE_WORDS[files.fate(file)], files.reasons.of(file)].filter(Boolean).join(", ")],
      ["removed by", files.removers.of(file)],
      ["row groups to read", files.rowGroups.of(file)],
      ["left to check", files.residuals.of(file)],
    ];
    this.detail.replaceChildren(...facts.filter(([, value]) => value).map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, ...(Array.isArray(value) ? value : [value])))));
    this.detail.hidden = false;
  }
}

function space(height) {
  const cell = make("td");
  cell.style.height = `${Math.max(height, 0)}px`;
  return make("tr", { class: "space", "aria-hidden": "true" }, cell);
}

/** What the table shows: how a cell is filled, what a column is sorted by, how wide it is in rem. */
function columnsOf(files) {
  const text = (label, width, key, shown = key) => ({ label, width, key, fill: (cell, file) => cell.append(shown(file) ?? "") });
  const number = (label, width, key, shown) => ({ ...text(label, width, key, shown), number: true });
  return [
    { label: "Path", width: "20rem", compare: (a, b) => files.comparePaths(a, b), fill: (cell, f) => cell.append(make("span", { class: "path", title: files.path(f) }, make("span", { class: "folder" }, make("bdi", { dir: "ltr" }, files.folders.of(f))), make("span", { class: "name" }, files.name(f)))) },
    { label: "Verdict", width: "5.5rem", key: (f) => files.fates[f], fill: (cell, f) => cell.append(make("i", { class: `swatch ${files.fate(f)}` }), files.verdicts.of(f)) },
    text("Pruned by", "6.5rem", (f) => files.prunedBy.of(f)),
    text("Reason", "9rem", (f) => files.reasons.of(f)),
    number("Bytes", "5.5rem", (f) => files.bytes[f], (f) => sizeText(files.bytes[f])),
    number("Rows", "5.5rem", (f) => files.rows[f], (f) => countText(files.rows[f])),
    ...(files.partition.length ? [text("Partition", "9rem", (f) => files.partitionText(f))] : []),
    ...files.axes.filter((axis) => !axis.partitioned).map((axis) => text(`${axis.name} bounds`, BOUNDS_WIDTH[axis.kind], (f) => axis.at(axis.lower[f]), (f) => axis.range(f) ?? "–")),
  ];
}

