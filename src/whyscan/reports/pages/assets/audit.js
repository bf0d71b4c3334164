// The ranking of an audit: what it shows of each query, its filters, and the chosen one in full.

class QueryTable extends Grid {
  /** `opened` is called with the query that is chosen. */
  constructor(queries, opened) {
    super(queries.count, queryColumns(queries), { title: "queries-title", noun: "queries" });
    Object.assign(this, { queries, opened });
    this.#forget();
    this.element = make("div", {}, this.#controls(), this.scroller);
  }

  #forget() {
    [this.needle, this.table, this.finding] = ["", "", ""];
    [this.withRewrite, this.eachShape] = [false, false];
  }

  #controls() {
    const { queries } = this;
    const set = (name) => (value) => {
      this[name] = value;
      this.soon();
    };
    const search = makeSearch("Filter by text, table or finding", "Filter queries by text, table or finding", set("needle"));
    this.tableNames = distinct(queries.tables);
    this.tableChoice = makeChoice("Table", "any table", this.tableNames, set("table"));
    const codes = distinct(queries.findings);
    const choices = [
      ...(this.tableNames.length > 1 ? [this.tableChoice] : []),
      ...(codes.length > 1 ? [makeChoice("Finding", "any finding", codes, set("finding"))] : []),
    ];
    const boxes = [["with a rewrite", "withRewrite", queries.rewrite], ["the first of each shape", "eachShape", queries.first]]
      .map(([label, name, flags]) => [label, set(name), flags.reduce((sum, one) => sum + one, 0)])
      .filter(([, , count]) => count && count < queries.count)
      .map(([label, changed, count]) => makeBox(`${label} (${countText(count)})`, changed));
    return make("div", { class: "controls", role: "search", "aria-label": "Queries" }, search, ...choices, ...boxes, this.shown);
  }

  /** What the filter looks at, made when it is first used. */
  get #searched() {
    const { sql, tables, findings } = this.queries;
    this.lowered ??= sql.map((text, query) => [text, ...tables[query], ...findings[query]].join(" ").toLowerCase());
    return this.lowered;
  }

  passing() {
    const { queries, needle, table, finding, withRewrite, eachShape } = this;
    const searched = needle ? this.#searched : null;
    return (query) => (!needle || searched[query].includes(needle))
      && (!table || queries.tables[query].includes(table))
      && (!finding || queries.findings[query].includes(finding))
      && (!withRewrite || queries.rewrite[query] === 1)
      && (!eachShape || queries.first[query] === 1);
  }

  clear() {
    this.#forget();
    for (const field of this.element.querySelectorAll("input[type=search], select")) field.value = "";
    for (const box of this.element.querySelectorAll("input[type=checkbox]")) box.checked = false;
    this.refresh();
  }

  /** Nothing but the queries on one table. */
  narrow(name) {
    this.clear();
    this.tableChoice.value = name;
    this.table = name;
    this.refresh();
    this.element.scrollIntoView({ block: "start" });
    this.grid.focus({ preventScroll: true });
  }

  describe(query) {
    this.opened(query);
  }
}

function distinct(lists) {
  return [...new Set(lists.flat())].sort(compare);
}

function shareText(ratio) {
  if (ratio === null) return "–";
  const share = 100 * ratio;
  if (share > 0 && share < 0.1) return "<0.1 %";
  if (share > 99.9 && share < 100) return ">99.9 %";
  return share === 0 || share === 100 ? `${share} %` : `${share.toFixed(1)} %`;
}

function queryColumns(queries) {
  const most = queries.wasted.reduce((greatest, one) => Math.max(greatest, one ?? 0), 1);
  const bytes = (label, values) => numberColumn(label, "5.5rem", (q) => values[q], (q) => sizeText(values[q]));
  const text = (cell, query) => {
    cell.append(make("span", { class: "sql", title: queries.sql[query] }, queries.sql[query]));
    if (queries.failed[query]) cell.prepend(make("span", { class: "failed" }, "not audited "));
  };
  const wasted = (cell, query) => {
    cell.append(sizeText(queries.wasted[query]));
    if (!queries.wasted[query]) return;
    const weight = make("span", { class: "weight" });
    weight.style.width = `${Math.max(1, (100 * queries.wasted[query]) / most)}%`;
    cell.append(weight);
  };
  return [
    numberColumn("#", "3.2rem", (q) => q, (q) => countText(q + 1)),
    { label: "Query", width: "13.5rem", rest: true, key: (q) => queries.sql[q], fill: text },
    { label: "Wasted", width: "6rem", number: true, key: (q) => queries.wasted[q], fill: wasted },
    bytes("Reads", queries.read),
    bytes("Needs", queries.needed),
    numberColumn("Runs", "5rem", (q) => queries.times[q], (q) => countText(queries.times[q])),
    numberColumn("Kept", "5rem", (q) => queries.ratio[q], (q) => shareText(queries.ratio[q])),
    textColumn("Tables", "9rem", (q) => queries.tables[q].join(", ")),
  ];
}

/** The chosen query: its piece of the page is unpacked when the reader chooses the query. */
class Drawer {
  constructor(place, { packs, inAPack, inFull }) {
    Object.assign(this, { place, packs, inAPack, inFull });
    this.unpacked = new Map();
  }

  async show(query) {
    this.wanted = query;
    const parts = query < this.inFull ? await this.#piece(query) : [make("p", {}, "More than this line is in the JSON of the audit.")];
    if (this.wanted !== query) return; // The reader has chosen another one meanwhile.
    this.place.replaceChildren(...parts);
    this.place.hidden = false;
    startCopies(this.place);
    letWideScroll();
  }

  async #piece(query) {
    const pack = Math.floor(query / this.inAPack);
    if (!this.unpacked.has(pack)) this.unpacked.set(pack, unpack(this.packs[pack]));
    const pieces = await this.unpacked.get(pack);
    // A document of its own, in which nothing runs.
    return new DOMParser().parseFromString(pieces[query % this.inAPack], "text/html").body.childNodes;
  }
}

async function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

