// The profile comes to life.

for (const table of document.querySelectorAll(".sortable")) startSorting(table);
startPage(() => {});
