// Light or dark: the system's choice until the reader makes one.

const systemIsDark = matchMedia("(prefers-color-scheme: dark)");

function themeIsDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen === undefined ? systemIsDark.matches : chosen === "dark";
}

/** A button that names the other theme; `changed` is called whenever colours change. */
function startTheme(changed) {
  const button = document.getElementById("theme");
  const name = () => {
    const other = themeIsDark() ? "Light" : "Dark";
    button.textContent = other;
    button.setAttribute("aria-label", `${other} theme`);
  };
  button.addEventListener("click", () => {
    document.documentElement.dataset.theme = themeIsDark() ? "light" : "dark";
    name();
    changed();
  });
  systemIsDark.addEventListener("change", () => {
    name();
    changed();
  });
  name();
  button.hidden = false;
}

