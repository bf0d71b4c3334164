// The files: columns as the page carries them, and what each cell says.

/** What became of a file, the least to be seen first: it is drawn under the others. */
const FATES = ["partition", "statistics", "bloom", "dictionary", "join", "limit", "some", "all"];
const READ_FATES = { some: true, all: true };
const FATE_WORDS = {
  partition: "skipped by partition", statistics: "skipped by statistics", bloom: "skipped by bloom filters", dictionary: "skipped by dictionaries", join: "skipped by a join", limit: "left out by LIMIT", some: "read", all: "read",
};

/** The place of each word once they are sorted. */
function ranksOf(words) {
  const ranks = new Uint32Array(words.length);
  words.map((word, at) => [word, at]).sort(([a], [b]) => compare(a, b)).forEach(([, at], rank) => { ranks[at] = rank; });
  return ranks;
}

/** Words and which of them each file has; all have the first where nothing says more. */
class Words {
  constructor({ words, at }) {
    this.words = words;
    this.at = at;
  }

  place(file) {
    return this.at === null ? 0 : this.at[file];
  }

  of(file) {
    return this.words[this.place(file)];
  }
}

class Files {
  constructor(data) {
    this.count = data.count;
    this.bytes = data.bytes;
    this.rows = data.rows;
    this.paths = data.path;
    this.folders = new Words(data.path.folder);
    this.verdicts = new Words(data.verdict);
    this.prunedBy = new Words(data.prunedBy);
    this.reasons = new Words(data.reason);
    this.residuals = new Words(data.residual);
    this.rowGroups = new Words(data.rowGroups);
    this.removers = new Words(data.removers);
    this.partition = data.partition.map(({ name, values }) => ({ name, values: new Words(values) }));
    this.axes = data.columns.map((column) => new Axis(column));
    this.fates = this.#fates();
  }

  /** A number a file: its place in FATES. */
  #fates() {
    const fates = new Uint8Array(this.count);
    for (let file = 0; file < this.count; file += 1) {
      const verdict = this.verdicts.of(file);
      fates[file] = FATES.indexOf(verdict === "none" ? this.prunedBy.of(file) : verdict);
    }
    return fates;
  }

  name(file) {
    return this.paths.prefix + this.paths.names[file] + this.paths.suffix;
  }

  path(file) {
    return this.folders.of(file) + this.name(file);
  }

  /** Folder by folder, and by name in each. */
  comparePaths(a, b) {
    return this.#folderRanks[this.folders.place(a)] - this.#folderRanks[this.folders.place(b)]
      || compare(this.paths.names[a], this.paths.names[b]);
  }

  get #folderRanks() {
    this.ranks ??= ranksOf(this.folders.words);
    return this.ranks;
  }

  /** What the filter looks at, made when it is first used. */
  get searched() {
    this.lowered ??= Array.from({ length: this.count }, (_, file) => `${this.path(file)} ${this.partitionText(file)}`.toLowerCase());
    return this.lowered;
  }

  fate(file) {
    return FATES[this.fates[file]];
  }

  partitionText(file) {
    return this.partition.map(({ name, values }) => `${name}=${values.of(file) ?? "NULL"}`).join(" ");
  }

  /** One line for people: the path, its bounds on the axis, and what became of it. */
  line(file, axis) {
    const why = this.reasons.of(file);
    const fate = FATE_WORDS[this.fate(file)];
    return `${this.path(file)}  ${axis.range(file)}  ${why === null ? fate : `${fate}, ${why}`}`;
  }
}

