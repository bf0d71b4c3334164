// Tables that are written out: their heads sort the rows.

/** A cell's key: a number where its column has numbers, and null where it is not known. */
function keyOf(cell, number) {
  const { key } = cell.dataset;
  if (!number) return key;
  return key === "" ? null : Number(key);
}

function sortRows(table, at, descending) {
  const heads = [...table.tHead.rows[0].cells];
  const number = heads[at].classList.contains("number");
  const keyed = [...table.tBodies[0].rows].map((row) => [keyOf(row.cells[at], number), row]);
  const way = descending ? -1 : 1;
  // What is not known comes last, whichever way.
  keyed.sort(([a], [b]) => (a === null || b === null ? (a === null) - (b === null) : way * (a < b ? -1 : a > b ? 1 : 0)));
  table.tBodies[0].append(...keyed.map(([, row]) => row));
  heads.forEach((head, index) => {
    if (index === at) head.setAttribute("aria-sort", descending ? "descending" : "ascending");
    else head.removeAttribute("aria-sort");
  });
  say(`Sorted by ${heads[at].textContent}, ${descending ? "descending" : "ascending"}`);
}

function startSorting(table) {
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    if (head.classList.contains("fixed")) return;
    const button = make("button", { type: "button" }, head.textContent);
    button.addEventListener("click", () => sortRows(table, at, head.getAttribute("aria-sort") === "ascending"));
    head.replaceChildren(button);
  });
}

