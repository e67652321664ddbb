// Rows that are chosen stay so while they are drawn anew; the bar below the list says how many, and sends those shown.

const chosen = new Set();
const boxes = () => [...document.querySelectorAll("input[data-choose]")];

function show() {
  const bar = document.getElementById("bulk");
  if (!bar) return;
  const all = boxes();
  all.forEach((box) => { box.checked = chosen.has(box.value); });
  const count = all.filter((box) => box.checked).length;
  bar.hidden = !count;
  bar.querySelector("[data-count]").textContent = `${count} selected`;
  const every = document.querySelector("[data-choose-all]");
  if (!every) return; // in read-only mode nothing can be chosen
  every.hidden = !all.length;
  every.checked = count > 0 && count === all.length;
  every.indeterminate = count > 0 && count < all.length;
}

function choose(some, isChosen) {
  some.forEach((box) => chosen[isChosen ? "add" : "delete"](box.value));
  show();
}

document.addEventListener("change", ({ target }) => {
  if (target.matches("[data-choose]")) choose([target], target.checked);
  else if (target.matches("[data-choose-all]")) choose(boxes(), target.checked);
});
document.addEventListener("click", (event) => { if (event.target.closest("[data-choose-none]")) choose(boxes(), false); });
for (const name of ["htmx:wsAfterMessage", "htmx:afterSettle", "regions:replaced"]) document.addEventListener(name, show);
addEventListener("pageshow", () => choose(boxes().filter((box) => box.checked), true)); // what the browser has kept
