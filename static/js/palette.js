// Ctrl-K, or a click: from anywhere to anything by its name. Arrows choose, Enter goes there, Escape closes.
const palette = () => document.getElementById("palette");
const options = () => [...palette().querySelectorAll("[role=option]")];

const chosen = () => options().find((element) => element.getAttribute("aria-selected") === "true");

function open() {
  if (palette().open) return;
  palette().showModal();
  const input = palette().querySelector("input");
  input.select();
  input.dispatchEvent(new Event("opened"));
}

function choose(option) {
  options().forEach((element, number) => {
    element.id = `found-${number + 1}`;
    element.setAttribute("aria-selected", String(element === option));
  });
  option?.scrollIntoView({ block: "nearest" });
  const input = palette().querySelector("input");
  if (option) input.setAttribute("aria-activedescendant", option.id);
  else input.removeAttribute("aria-activedescendant");
}

function move(step) {
  const all = options();
  const at = all.indexOf(chosen());
  choose(all[(at + step + all.length) % all.length]);
}

document.addEventListener("keydown", (event) => {
  if (!palette()) return;
  if (event.key.toLowerCase() === "k" && (event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey) {
    event.preventDefault();
    open();
  } else if (palette().open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
    event.preventDefault();
    move(event.key === "ArrowDown" ? 1 : -1);
  } else if (palette().open && event.key === "Enter") {
    event.preventDefault();
    chosen()?.querySelector("a").click();
  }
});
document.addEventListener("click", (event) => {
  if (event.target.closest("[data-palette]")) open();
  else if (event.target === palette()) palette().close();
});
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.target.id === "palette-found") choose(chosen() ?? options()[0]);
});
