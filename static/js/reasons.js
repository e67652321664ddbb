// A button that cannot be pressed says why: it keeps its place in the tab order, its title is its description, and the
// style sheet shows that text while it has the focus or the pointer. Pressing it does nothing.

const UNUSABLE = "button:disabled[title], .button[aria-disabled=true]:not([tabindex])";

function explain(root) {
  root.querySelectorAll?.(UNUSABLE).forEach((each) => {
    if (each.disabled) {
      each.disabled = false;
      each.setAttribute("aria-disabled", "true");
    } else {
      each.tabIndex = 0;
      if (each.tagName === "SPAN") each.setAttribute("role", "button");
    }
  });
}

document.addEventListener("click", (event) => {
  if (!event.target.closest?.("[aria-disabled=true]")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}, { capture: true });

explain(document);
document.addEventListener("htmx:oobBeforeSwap", (event) => explain(event.detail.fragment));
document.addEventListener("htmx:afterSettle", (event) => explain(event.detail.elt));
document.addEventListener("regions:replaced", () => explain(document));
