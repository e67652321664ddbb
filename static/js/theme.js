// Light, dark or as the system says.

import { keepChoice } from "./cookies.js";

const NEXT = { system: "light", light: "dark", dark: "system" };
const YEAR_SECONDS = 365 * 24 * 3600;
const now = () => document.documentElement.dataset.theme || "system";

function show() {
  document.querySelectorAll("[data-theme-toggle] [data-text]").forEach((element) => { element.textContent = `Theme: ${now()}`; });
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-toggle]")) return;
  const theme = NEXT[now()];
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  keepChoice("barnabas_theme", theme, theme === "system" ? 0 : YEAR_SECONDS);
  show();
});
show();
