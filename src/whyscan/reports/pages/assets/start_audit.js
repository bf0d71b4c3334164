// The audit comes to life: the ranking, and the query that the address names or else the first one.

function startQueries() {
  const block = document.getElementById("data");
  const queries = JSON.parse(block.textContent);
  block.remove(); // The text is not needed twice.
  if (queries.count === 0) return () => {};
  const drawer = new Drawer(document.getElementById("query"), queries);
  const table = new QueryTable(queries, (query) => {
    history.replaceState(null, "", `#query-${query + 1}`);
    drawer.show(query);
  });
  const place = document.getElementById("queries");
  place.append(table.element);
  place.hidden = false;
  table.refresh();
  table.grid.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && event.target === table.grid && table.active >= 0) drawer.place.focus();
  });
  for (const button of document.querySelectorAll("[data-table]")) {
    button.hidden = !table.tableNames.includes(button.dataset.table);
    button.addEventListener("click", () => table.narrow(button.dataset.table));
  }
  const named = Number(location.hash.match(/^#query-(\d+)$/)?.[1] ?? 0);
  if (named >= 1 && named <= queries.count) table.choose(named - 1);
  else drawer.show(0);
  return () => table.render();
}

startPage(startQueries());
