// A table of very many rows: sorted and filtered as numbers, and as many in the page as can be seen.

const ROW = 28; // CSS pixels, as page.css has it.
const TALLEST_SCROLL = 4e6; // Browsers lose count of pixels far above: beyond it, rows pass by faster.
const SPARE = 8;

/**
 * Items are numbers from 0. A kind of grid says with `passing()` which of them are shown, with `describe(item)`
 * the details of the selected one, and with `clear()` how its filters are reset.
 */
class Grid {
  /** `title` is the id of its heading, `noun` what its items are called. The column with `rest` has the room that is left. */
  constructor(count, columns, { title, noun }) {
    Object.assign(this, { count, columns, title, noun });
    this.sorting = { column: -1, descending: false };
    this.rows = Uint32Array.from({ length: count }, (_, item) => item);
    this.active = -1; // A place among the rows.
    this.shown = make("span", { class: "shown", role: "status" });
    this.scroller = this.#build();
  }

  #build() {
    this.heads = this.columns.map((column, at) => {
      const button = make("button", { type: "button", title: column.label, tabindex: "0" }, column.label);
      button.addEventListener("click", () => this.sort(at));
      return make("th", { scope: "col", class: column.number ? "number" : "text", "aria-sort": "none" }, button);
    });
    const widths = this.columns.map((column) => {
      const col = make("col");
      if (!column.rest) col.style.width = column.width;
      return col;
    });
    this.body = make("tbody");
    this.grid = make("table", { class: "grid", role: "grid", tabindex: "0", "aria-labelledby": this.title, "aria-colcount": String(this.columns.length), "aria-rowcount": String(this.count + 1) },
      make("colgroup", {}, ...widths), make("thead", {}, make("tr", { "aria-rowindex": "1" }, ...this.heads)), this.body);
    this.grid.style.minWidth = `${this.columns.reduce((sum, column) => sum + parseFloat(column.width), 0)}rem`;
    const scroller = make("div", { class: "scroller" }, this.grid);
    scroller.addEventListener("scroll", () => this.soon("scroll"), { passive: true });
    this.grid.addEventListener("keydown", (event) => this.#key(event));
    this.body.addEventListener("click", (event) => {
      const row = event.target.closest("tr[data-place]");
      if (row) this.activate(Number(row.dataset.place));
    });
    return scroller;
  }

  /** Several changes within a frame are one. */
  soon(what = "filter") {
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
    const passes = this.passing();
    const shown = [];
    for (let item = 0; item < this.count; item += 1) {
      if (passes(item)) shown.push(item);
    }
    this.rows = Uint32Array.from(shown);
    this.#order();
    this.active = -1;
    this.grid.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.shown.textContent = `${countText(this.rows.length)} of ${countText(this.count)} ${this.noun}`;
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
    const keys = new Array(this.count);
    for (const item of this.rows) keys[item] = key(item);
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
    const item = this.rows[place];
    const row = make("tr", { id: `row-${place}`, "data-place": place, "aria-rowindex": place + 2, "aria-selected": place === this.active });
    for (const column of this.columns) {
      const cell = make("td", { class: column.number ? "number" : "text" });
      column.fill(cell, item);
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
    this.activate(Math.min(Math.max(to, 0), last));
  }

  activate(place) {
    this.active = place;
    this.#reveal(place);
    this.render();
    this.describe(this.rows[place]);
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

  /** An item from elsewhere: in the list, or without the filter that hides it. */
  choose(item) {
    let place = this.rows.indexOf(item);
    if (place < 0) {
      this.clear();
      place = this.rows.indexOf(item);
    }
    this.activate(place);
  }
}

function space(height) {
  const cell = make("td");
  cell.style.height = `${Math.max(height, 0)}px`;
  return make("tr", { class: "space", "aria-hidden": "true" }, cell);
}

/** Columns of a grid: how a cell is filled, what it is sorted by, how wide it is in rem. */
const textColumn = (label, width, key, shown = key) => ({ label, width, key, fill: (cell, item) => cell.append(shown(item) ?? "") });
const numberColumn = (label, width, key, shown) => ({ ...textColumn(label, width, key, shown), number: true });

/** A list of words to filter by; `chosen` is called with one, or with "" for any. */
function makeChoice(label, any, words, chosen) {
  const select = make("select", { "aria-label": label }, make("option", { value: "" }, any), ...words.map((word) => make("option", { value: word }, word)));
  select.addEventListener("change", () => chosen(select.value));
  return select;
}

/** A field to filter by; `typed` is called with its text in small letters. */
function makeSearch(placeholder, label, typed) {
  const search = make("input", { type: "search", placeholder, "aria-label": label, autocomplete: "off", spellcheck: "false" });
  search.addEventListener("input", () => typed(search.value.toLowerCase()));
  return search;
}

/** A box to filter by; `changed` is called with whether it is checked. */
function makeBox(label, changed) {
  const box = make("input", { type: "checkbox" });
  box.addEventListener("change", () => changed(box.checked));
  return make("label", {}, box, label);
}

