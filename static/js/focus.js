// Rows and regions are replaced while somebody works in them by keyboard: what had the focus gets it back.

const FOCUSABLE = "a[href], button, input, select, textarea, [tabindex]";
let kept = null;

export function rememberFocus(region) {
  const index = [...region.querySelectorAll(FOCUSABLE)].indexOf(document.activeElement);
  if (index >= 0) kept = { id: region.id, index };
}

export function returnFocus() {
  if (!kept) return;
  const candidates = [...(document.getElementById(kept.id)?.querySelectorAll(FOCUSABLE) ?? [])];
  const same = candidates[kept.index];
  kept = null;
  (same?.disabled ? candidates.find((element) => !element.disabled) : same)?.focus({ preventScroll: true });
}

document.addEventListener("htmx:oobBeforeSwap", (event) => rememberFocus(event.detail.target));
document.addEventListener("htmx:wsAfterMessage", returnFocus);
