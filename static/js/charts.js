// One cursor for all charts of a page: what each said of the moment under the pointer stands below it, until it leaves.

function point(charts, x) {
  charts.querySelectorAll("rect.under").forEach((each) => each.classList.remove("under"));
  charts.querySelectorAll("[data-readout]").forEach((each) => { each.textContent = ""; });
  if (x === null) return;
  charts.querySelectorAll(`rect[x="${CSS.escape(x)}"]`).forEach((each) => {
    each.classList.add("under");
    const readout = each.closest("figure").querySelector("[data-readout]");
    if (readout) readout.textContent = each.querySelector("title").textContent;
  });
}

document.addEventListener("pointerover", (event) => {
  const charts = event.target.closest("[data-charts]");
  const column = event.target.closest("[data-charts] svg rect");
  if (column) point(charts, column.getAttribute("x"));
});

document.addEventListener("pointerout", (event) => {
  const charts = event.target.closest("[data-charts]");
  if (charts && !event.relatedTarget?.closest?.("[data-charts] svg")) point(charts, null);
});
