// Light, dark or as the system says. Kept in a cookie, so that the server draws the page in it and nothing flickers.

const NEXT = { system: "light", light: "dark", dark: "system" };
const YEAR_SECONDS = 365 * 24 * 3600;
const now = () => document.documentElement.dataset.theme || "system";

function show() {
  document.querySelectorAll("[data-theme-toggle] [data-text]").forEach((each) => { each.textContent = `Theme: ${now()}`; });
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-theme-toggle]")) return;
  const theme = NEXT[now()];
  if (theme === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const path = new URL("../..", document.querySelector("link[rel=icon]").href).pathname; // above static/img/
  document.cookie = `barnabas_theme=${theme}; Path=${path}; SameSite=Lax; Max-Age=${theme === "system" ? 0 : YEAR_SECONDS}${secure}`;
  show();
});
show();
