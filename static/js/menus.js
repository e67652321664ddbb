// Menus close at a click elsewhere and at Escape; on a phone More opens the entries that the bar has no room for.

const entries = document.getElementById("pages");
const more = entries?.querySelector("[data-more]");

function showAll(isOpen) {
  entries.classList.toggle("is-open", isOpen);
  more.setAttribute("aria-expanded", String(isOpen));
}

document.addEventListener("click", (event) => {
  document.querySelectorAll("details.menu[open]").forEach((menu) => { if (!menu.contains(event.target)) menu.open = false; });
  if (!more) return;
  if (event.target.closest("[data-more]")) showAll(!entries.classList.contains("is-open"));
  else if (!entries.contains(event.target)) showAll(false);
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  const menu = document.querySelector("details.menu[open]");
  if (menu) { menu.open = false; menu.querySelector("summary").focus(); }
  else if (more && entries.classList.contains("is-open")) { showAll(false); more.focus(); }
});
