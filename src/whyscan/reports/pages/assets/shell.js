// What every page has: copy buttons, the theme, and tables that scroll by keyboard.

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

/** `draw` is called whenever the width or the colours change. */
function startPage(draw) {
  startCopies(document);
  startTheme(draw);
  let width = 0;
  new ResizeObserver(() => {
    if (document.body.clientWidth === width) return;
    width = document.body.clientWidth;
    letWideScroll();
    draw();
  }).observe(document.body);
}

