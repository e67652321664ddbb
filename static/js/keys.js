// Keys without a modifier: "/" goes to the page's search field, "?" shows the keys. Not while text is typed.
const isTyping = (target) => target.isContentEditable || target.matches("input, textarea, select");
const searchField = () =>
  [...document.querySelectorAll("main input[type=search], main input[name=search]")].find(
    (input) => !input.disabled && input.checkVisibility(),
  );

document.addEventListener("keydown", (event) => {
  const help = document.getElementById("keys");
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
  if (!help || isTyping(event.target) || document.querySelector("dialog[open]")) return;
  if (event.key === "/") {
    const field = searchField();
    event.preventDefault();
    if (field) field.select();
    else document.querySelector("[data-palette]")?.click();
  } else if (event.key === "?") {
    event.preventDefault();
    help.showModal();
  }
});
document.addEventListener("click", (event) => {
  if (event.target.id === "keys") event.target.close();
});
