// The theme of a page in a frame: what is asked for, else that of the notebook around it, else the reader's system's.

// Gives the page the colours of its theme, now and whenever the theme changes.
export function followTheme(wanted, palettes) {
  const system = matchMedia("(prefers-color-scheme: dark)"), outer = notebookAround();
  const show = () => {
    const dark = wanted === "auto" ? (outer ? outer.dataset.jpThemeLight === "false" : system.matches) : wanted === "dark";
    const theme = dark ? "dark" : "light", page = document.documentElement;
    page.dataset.theme = page.style.colorScheme = theme;
    for (const [role, colour] of Object.entries(palettes[theme])) page.style.setProperty(`--pl-${role}`, colour);
  };
  show();
  system.addEventListener("change", show);
  if (outer) new MutationObserver(show).observe(outer, { attributes: true, attributeFilter: ["data-jp-theme-light"] });
}

// The body of the notebook that shows this in a frame, if there is one that may be asked.
function notebookAround() {
  try {
    const { body } = parent.document;
    return body.dataset.jpThemeLight === undefined ? null : body;
  } catch {
    return null;
  }
}
