// Numbers as people read them, and their order.

const SIZE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

function sizeText(bytes) {
  if (bytes === null) return "–";
  let [amount, unit] = [bytes, 0];
  while (amount >= 999.5 && unit < SIZE_UNITS.length - 1) {
    amount /= 1000;
    unit += 1;
  }
  return `${amount.toFixed(unit > 0 && amount < 9.95 ? 1 : 0)} ${SIZE_UNITS[unit]}`;
}

function countText(number) {
  return number === null ? "–" : number.toLocaleString("en");
}

function compare(a, b) {
  return a < b ? -1 : a > b ? 1 : 0;
}

