// A cell (data-cell) whose text changed glows for a moment when its row or region is swapped.

document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const before = new Map();
  cellsOf(event.detail.target).forEach((cell) => before.set(cell.dataset.cell, cell.textContent.trim()));
  cellsOf(event.detail.fragment).forEach((cell) => {
    const known = before.get(cell.dataset.cell);
    cell.classList.toggle("has-changed", known !== undefined && known !== cell.textContent.trim());
  });
});

const cellsOf = (node) => node.querySelectorAll("[data-cell]");
