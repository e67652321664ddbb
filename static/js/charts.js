// One cursor for all charts of a page: what each said of the time under the pointer stands below it, until it leaves.
// Dragging over a chart makes the part between its ends the range of the page; the browser's way back undoes it.

import { writeTime } from "./times.js";

const DRAG_PIXELS_MIN = 8;
const OTHER_NAMES = ["last", "span", "since", "until", "moment", "around", "cursor", "page"];
let drag = null;

const timeAt = (svg, share) => Number(svg.dataset.from) + share * (svg.dataset.to - svg.dataset.from);

function point(charts, x) {
  charts.querySelectorAll("rect.under").forEach((element) => element.classList.remove("under"));
  charts.querySelectorAll("[data-readout]").forEach((element) => { element.textContent = ""; });
  if (x === null) return;
  charts.querySelectorAll(`rect[x="${CSS.escape(x)}"]`).forEach((element) => {
    element.classList.add("under");
    const svg = element.ownerSVGElement;
    const readout = element.closest("figure").querySelector("[data-readout]");
    if (readout) readout.textContent = `${writeTime(timeAt(svg, x / svg.viewBox.baseVal.width), "s")} · ${element.querySelector("title").textContent}`;
  });
}

function shareAt(event) {
  const box = drag.svg.getBoundingClientRect();
  return Math.min(1, Math.max(0, (event.clientX - box.left) / box.width));
}

function showDragged(ends) {
  document.querySelectorAll("[data-charts] rect.dragged").forEach((element) => element.remove());
  if (!ends) return;
  document.querySelectorAll("[data-charts] svg[data-from]").forEach((svg) => {
    const { width, height } = svg.viewBox.baseVal;
    const part = document.createElementNS(svg.namespaceURI, "rect");
    part.setAttribute("class", "dragged");
    part.setAttribute("x", ends[0] * width);
    part.setAttribute("width", (ends[1] - ends[0]) * width);
    part.setAttribute("height", height);
    svg.append(part);
  });
}

function endsAt(event) {
  const ends = [drag.from, shareAt(event)].sort((a, b) => a - b);
  return (ends[1] - ends[0]) * drag.svg.getBoundingClientRect().width < DRAG_PIXELS_MIN ? null : ends;
}

document.addEventListener("pointerover", (event) => {
  const charts = event.target.closest("[data-charts]");
  const column = event.target.closest("[data-charts] svg rect:not(.dragged)");
  if (column) point(charts, column.getAttribute("x"));
});

document.addEventListener("pointerout", (event) => {
  const charts = event.target.closest("[data-charts]");
  if (charts && !event.relatedTarget?.closest?.("[data-charts] svg")) point(charts, null);
});

document.addEventListener("pointerdown", (event) => {
  const svg = event.target.closest("[data-charts] svg[data-from]");
  if (!svg || event.button || !document.querySelector("[data-range]")) return;
  drag = { svg };
  drag.from = shareAt(event);
  event.preventDefault(); // no text is selected meanwhile
});

document.addEventListener("pointermove", (event) => { if (drag) showDragged(endsAt(event)); });

document.addEventListener("pointerup", (event) => {
  if (!drag) return;
  const { svg } = drag;
  const ends = endsAt(event);
  drag = null;
  if (!ends) { showDragged(null); return; }
  const address = new URL(location.href);
  OTHER_NAMES.forEach((name) => address.searchParams.delete(name));
  ["from", "to"].forEach((name, at) => address.searchParams.set(name, new Date(Math.round(timeAt(svg, ends[at]))).toISOString()));
  location.assign(address);
});

["pointercancel", "keydown"].forEach((name) => document.addEventListener(name, (event) => {
  if (name === "keydown" && event.key !== "Escape") return;
  drag = null;
  showDragged(null);
}));
