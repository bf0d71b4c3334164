// What every page has: copy buttons, the theme, tables that sort and scroll by keyboard, and links that open what they lead to.

/** What scrolls can be reached by keyboard, and what does not is no stop on the way. */
function letWideScroll() {
  for (const region of document.querySelectorAll(".wide")) {
    if (region.scrollWidth > region.clientWidth || region.scrollHeight > region.clientHeight) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  }
}

/** The buttons in a part of the page copy what they name. */
function startCopies(part) {
  for (const button of part.querySelectorAll("[data-copy]")) {
    const target = document.getElementById(button.dataset.copy);
    makeCopy(button, () => target.textContent);
  }
}

/** A link to a chapter opens it. */
function startLinks() {
  for (const link of document.querySelectorAll('a[href^="#scan-"]')) {
    link.addEventListener("click", () => { document.getElementById(link.hash.slice(1)).open = true; });
  }
}

/** `draw` is called at once, so that a page that has loaded is drawn, and whenever the width or the colours change. */
function startPage(draw) {
  startCopies(document);
  for (const table of document.querySelectorAll(".sortable")) startSorting(table);
  startLinks();
  startTheme(draw);
  let width = null;
  const fit = () => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    letWideScroll();
    draw();
  };
  fit();
  new ResizeObserver(fit).observe(document.body);
}

