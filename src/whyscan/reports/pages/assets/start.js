// The report comes to life: files and charts are put in their places.

function startFiles() {
  const block = document.getElementById("data");
  if (block === null) return () => {};
  const files = new Files(JSON.parse(block.textContent));
  block.remove(); // The text is not needed twice.
  const table = new FileTable(files);
  const place = document.getElementById("files");
  place.append(table.element);
  place.hidden = false;
  table.refresh();
  const charts = files.axes.map((axis) => new Chart(files, axis, (file) => table.choose(file)));
  document.getElementById("figures").append(...charts.map((chart) => chart.figure));
  document.getElementById("charts").hidden = charts.length === 0;
  return () => {
    for (const chart of charts) chart.draw();
    table.render();
  };
}

startPage(startFiles());
