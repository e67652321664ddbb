// Light, dark or as the system says; kept in this browser. Runs before the first paint so that nothing flickers.
(() => {
  const KEY = "barnabas-theme";
  const NEXT = { system: "light", light: "dark", dark: "system" };
  const read = () => {
    try { return localStorage.getItem(KEY) in NEXT ? localStorage.getItem(KEY) : "system"; } catch { return "system"; }
  };
  const apply = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    document.querySelectorAll("[data-theme-toggle] [data-text]").forEach((each) => { each.textContent = `Theme: ${theme}`; });
  };
  apply(read());
  document.addEventListener("DOMContentLoaded", () => apply(read()));
  document.addEventListener("click", (event) => {
    if (!event.target.closest("[data-theme-toggle]")) return;
    const theme = NEXT[read()];
    try { localStorage.setItem(KEY, theme); } catch { /* private window: the choice lasts for this page */ }
    apply(theme);
  });
})();
