// The page comes to life: everything above is put in its place.

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

/** What scrolls sideways can be reached by keyboard, and what does not is no stop on the way. */
function letWideScroll() {
  for (const region of document.querySelectorAll(".wide")) {
    if (region.scrollWidth > region.clientWidth) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  }
}

for (const button of document.querySelectorAll("[data-copy]")) {
  const target = document.getElementById(button.dataset.copy);
  makeCopy(button, () => target.textContent);
}
const draw = startFiles();
startTheme(draw);
let width = 0;
new ResizeObserver(() => {
  if (document.body.clientWidth === width) return;
  width = document.body.clientWidth;
  letWideScroll();
  draw();
}).observe(document.body);
