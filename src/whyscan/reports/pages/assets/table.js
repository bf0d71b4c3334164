// The file table: what it shows of each file, its filters, and the facts of the chosen one.

const FATE_COLUMN = 1;
const BOUNDS_WIDTH = { time: "23rem", date: "13rem", rank: "12rem", number: "10rem" };

class FileTable extends Grid {
  constructor(files) {
    super(files.count, columnsOf(files), { title: "files-title", noun: "files" });
    this.files = files;
    this.wanted = new Set(FATES);
    this.reason = "";
    this.needle = "";
    this.sorting = { column: FATE_COLUMN, descending: true }; // What is read comes first.
    this.heads[FATE_COLUMN].setAttribute("aria-sort", "descending");
    this.element = make("div", {}, this.#controls(), this.scroller, this.#details());
  }

  #controls() {
    const search = makeSearch("Filter by path or partition", "Filter files by path or partition", (typed) => {
      this.needle = typed;
      this.soon();
    });
    const counts = new Map(FATES.map((fate) => [fate, 0]));
    for (const fate of this.files.fates) counts.set(FATES[fate], counts.get(FATES[fate]) + 1);
    const boxes = [...FATES].reverse().filter((fate) => counts.get(fate)).map((fate) => this.#box(fate, counts.get(fate)));
    return make("div", { class: "controls", role: "search", "aria-label": "Files" }, search, ...boxes, ...this.#reasons(), this.shown);
  }

  #box(fate, count) {
    const box = make("input", { type: "checkbox", "data-fate": fate });
    box.checked = true;
    box.addEventListener("change", () => {
      if (box.checked) this.wanted.add(fate);
      else this.wanted.delete(fate);
      this.soon();
    });
    const words = { all: "every row matches", some: "some rows may match" }[fate] ?? FATE_WORDS[fate];
    return make("label", {}, box, make("i", { class: `swatch ${fate}` }), `${words} (${countText(count)})`);
  }

  #reasons() {
    const words = this.files.reasons.words.filter((word) => word !== null);
    if (words.length < 2) return [];
    return [makeChoice("Reason", "any reason", words, (chosen) => {
      this.reason = chosen;
      this.soon();
    })];
  }

  #details() {
    this.detail = make("dl", { class: "detail", "aria-live": "polite", "aria-label": "The chosen file", hidden: "" });
    return this.detail;
  }

  passing() {
    const { files, wanted, needle, reason } = this;
    const fates = FATES.map((fate) => wanted.has(fate));
    return (file) => fates[files.fates[file]]
      && (!reason || files.reasons.of(file) === reason)
      && (!needle || files.searched[file].includes(needle));
  }

  choose(file) {
    super.choose(file);
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

  describe(file) {
    const { files } = this;
    const copy = make("button", { type: "button", class: "copy", "aria-label": "Copy the path" }, "Copy");
    makeCopy(copy, () => files.path(file));
    const facts = [
      ["path", [make("code", {}, files.path(file)), copy]],
      ["size", `${sizeText(files.bytes[file])}${files.rows[file] === null ? "" : `, ${countText(files.rows[file])} rows`}`],
      ["partition", files.partitionText(file)],
      ...files.axes.filter((axis) => !axis.partitioned && axis.range(file) !== null).map((axis) => [axis.name, axis.range(file)]),
      ["outcome", [FATE_WORDS[files.fate(file)], files.reasons.of(file)].filter(Boolean).join(", ")],
      ["removed by", files.removers.of(file)],
      ["row groups to read", files.rowGroups.of(file)],
      ["left to check", files.residuals.of(file)],
    ];
    this.detail.replaceChildren(...facts.filter(([, value]) => value).map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, ...(Array.isArray(value) ? value : [value])))));
    this.detail.hidden = false;
  }
}

function columnsOf(files) {
  return [
    { label: "Path", width: window.innerWidth < 600 ? "10rem" : "20rem", rest: true, compare: (a, b) => files.comparePaths(a, b), fill: (cell, f) => cell.append(make("span", { class: "path", title: files.path(f) }, make("span", { class: "folder" }, make("bdi", { dir: "ltr" }, files.folders.of(f))), make("span", { class: "name" }, files.name(f)))) },
    { label: "Outcome", width: "5.5rem", key: (f) => files.fates[f], fill: (cell, f) => cell.append(make("i", { class: `swatch ${files.fate(f)}` }), files.verdicts.of(f) === "none" ? "skipped" : "read") },
    textColumn("Pruned by", "6.5rem", (f) => files.prunedBy.of(f)),
    textColumn("Reason", "9rem", (f) => files.reasons.of(f)),
    numberColumn("Bytes", "5.5rem", (f) => files.bytes[f], (f) => sizeText(files.bytes[f])),
    numberColumn("Rows", "5.5rem", (f) => files.rows[f], (f) => countText(files.rows[f])),
    ...(files.partition.length ? [textColumn("Partition", "9rem", (f) => files.partitionText(f))] : []),
    ...files.axes.filter((axis) => !axis.partitioned).map((axis) => textColumn(`${axis.name} bounds`, BOUNDS_WIDTH[axis.kind], (f) => axis.at(axis.lower[f]), (f) => axis.range(f) ?? "–")),
  ];
}

