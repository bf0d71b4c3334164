// The values of an axis: where they lie, how they are written, and where its ticks are.

const SECONDS_A_DAY = 86400;
const LAST_DATE = 1e8 * SECONDS_A_DAY; // The calendar of JavaScript ends there.

/** Seconds since 1970 as `2024-03-01T12:30:00`; null beyond the calendar. */
function isoSeconds(seconds) {
  return Math.abs(seconds) > LAST_DATE ? null : new Date(seconds * 1000).toISOString().replace(/\.\d+Z$/, "");
}

function dateText(days) {
  const text = isoSeconds(days * SECONDS_A_DAY);
  return text === null ? `day ${days}` : text.split("T")[0];
}

/** Ticks may be beyond what a number holds exactly, and then are text. */
function timeText(ticks, perSecond, zone) {
  const [whole, per] = [BigInt(ticks), BigInt(perSecond)];
  const rest = ((whole % per) + per) % per;
  const seconds = Number((whole - rest) / per);
  const text = isoSeconds(seconds);
  if (text === null) return `second ${seconds}`;
  const digits = rest === 0n ? "" : `.${String(rest + per).slice(1).replace(/0+$/, "")}`;
  return `${text}${digits}${zone}`;
}

/** A column: `text(v)` writes a bound, `at(v)` is its position, `ticks` marks the axis. */
class Axis {
  constructor(column) {
    Object.assign(this, column);
  }

  at(value) {
    if (value === null) return NaN;
    return this.kind === "time" ? Number(value) / this.perSecond : Number(value);
  }

  text(value) {
    switch (this.kind) {
      case "rank": return this.words[value];
      case "date": return dateText(value);
      case "time": return timeText(value, this.perSecond, this.zone);
      default: return String(value);
    }
  }

  /** `[40, 60]`, with a question mark for an unknown end; null if both are unknown. */
  range(file) {
    const ends = [this.lower[file], this.upper[file]];
    if (ends[0] === null && ends[1] === null) return null;
    const [low, high] = ends.map((end) => (end === null ? "?" : this.text(end)));
    return low === high ? low : `[${low}, ${high}]`;
  }

  /** Positions and labels, at most `room` of them. */
  ticks(from, to, room) {
    switch (this.kind) {
      case "rank": return rankTicks(this.words, from, to, room);
      case "date": return dateTicks(from * SECONDS_A_DAY, to * SECONDS_A_DAY, room).map(({ at, label }) => ({ at: at / SECONDS_A_DAY, label }));
      case "time": return dateTicks(from, to, room);
      default: return numberTicks(from, to, room);
    }
  }
}

function rankTicks(words, from, to, room) {
  const [first, last] = [Math.max(0, Math.ceil(from)), Math.min(words.length - 1, Math.floor(to))];
  const step = Math.max(1, Math.ceil((last - first + 1) / room));
  const ticks = [];
  for (let at = first; at <= last; at += step) {
    const word = words[at];
    ticks.push({ at, label: word.length > 12 ? `${word.slice(0, 11)}…` : word });
  }
  return ticks;
}

function numberTicks(from, to, room) {
  const rough = (to - from) / room;
  if (!(rough > 0) || !Number.isFinite(rough)) return [];
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= rough);
  const ticks = [];
  for (let n = Math.ceil(from / step); n * step <= to && ticks.length <= room; n += 1) {
    const at = n * step;
    ticks.push({ at, label: numberLabel(at, step) });
  }
  return ticks;
}

function numberLabel(value, step) {
  const size = Math.abs(value);
  if (size < step / 2) return "0"; // Never -0.
  if (size >= 1e15 || (size > 0 && size < 1e-6)) return value.toExponential(2);
  const digits = Math.max(0, Math.min(12, -Math.floor(Math.log10(step) + 1e-9)));
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const CLOCK_STEPS = [1, 5, 15, 30, 60, 300, 900, 1800, 3600, 10800, 21600, 43200, 86400, 172800, 604800];
const MONTH_STEPS = [1, 3, 6, 12, 24, 60, 120, 240, 600, 1200, 12000, 120000];

/** Ticks at whole seconds, hours, days, months or years, whichever there is room for. */
function dateTicks(from, to, room) {
  if (Math.abs(from) > LAST_DATE || Math.abs(to) > LAST_DATE) return [];
  const step = CLOCK_STEPS.find((s) => (to - from) / s <= room);
  return step === undefined ? monthTicks(from, to, room) : clockTicks(from, to, step);
}

function clockTicks(from, to, step) {
  const ticks = [];
  for (let at = Math.ceil(from / step) * step; at <= to; at += step) {
    const [day, time] = isoSeconds(at).split("T");
    const label = step >= SECONDS_A_DAY || time === "00:00:00" ? day : time.slice(0, step < 60 ? 8 : 5);
    ticks.push({ at, label });
  }
  return ticks;
}

function monthTicks(from, to, room) {
  const month = (seconds) => {
    const date = new Date(seconds * 1000);
    return date.getUTCFullYear() * 12 + date.getUTCMonth();
  };
  const [first, last] = [month(from), month(to)];
  const step = MONTH_STEPS.find((s) => (last - first) / s <= room) ?? MONTH_STEPS.at(-1);
  const ticks = [];
  for (let n = Math.ceil(first / step) * step; n <= last; n += step) {
    const date = new Date(0);
    date.setUTCFullYear(Math.floor(n / 12), ((n % 12) + 12) % 12, 1);
    const at = date.getTime() / 1000;
    const text = isoSeconds(at);
    if (text !== null && at >= from) ticks.push({ at, label: text.split("T")[0].slice(0, step >= 12 ? -6 : -3) });
  }
  return ticks;
}

