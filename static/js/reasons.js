// A button that cannot be pressed says why: it keeps its place in the tab order, its title is its description, and the
// style sheet shows that text while it has the focus or the pointer. Pressing it does nothing.

const UNUSABLE = "button:disabled[title], .button[aria-disabled=true]:not([tabindex])";

function explain(root) {
  root.querySelectorAll?.(UNUSABLE).forEach((element) => {
    if (element.disabled) {
      element.disabled = false;
      element.setAttribute("aria-disabled", "true");
    } else {
      element.tabIndex = 0;
      if (element.tagName === "SPAN") element.setAttribute("role", "button");
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
