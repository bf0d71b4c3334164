// A page of blocks comes to life: its tables can be sorted.

for (const table of document.querySelectorAll(".sortable")) startSorting(table);
startPage(() => {});
