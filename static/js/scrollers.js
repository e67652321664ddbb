// A table that is wider than its place is scrolled by keyboard, too: its place takes the focus, unless something in it
// does, and is named after the heading above it.

const FOCUSABLE = "a[href], button, input, select, textarea, summary, [tabindex]";

function nameOf(place) {
  return place.closest(".panel, section")?.querySelector("h2")?.textContent.trim() || document.querySelector("h1")?.textContent.trim() || "Table";
}

function mark() {
  document.querySelectorAll(".scroll").forEach((place) => {
    const isMarked = place.hasAttribute("data-scroller");
    const isCut = place.scrollWidth > place.clientWidth || place.scrollHeight > place.clientHeight;
    const needsFocus = isCut && !place.querySelector(FOCUSABLE);
    if (needsFocus === isMarked) return;
    place.toggleAttribute("data-scroller", needsFocus);
    const attributes = { tabindex: "0", role: "region", "aria-label": nameOf(place) };
    for (const [name, value] of Object.entries(attributes)) {
      if (needsFocus) place.setAttribute(name, value);
      else place.removeAttribute(name);
    }
  });
}

new ResizeObserver(mark).observe(document.body);
for (const event of ["htmx:afterSettle", "htmx:wsAfterMessage", "regions:replaced"]) document.addEventListener(event, mark);
