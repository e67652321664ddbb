// While a mouse button or a finger is down nothing on the page is replaced: what is pressed on one element and let go on
// its successor would be no click. What arrives meanwhile waits, in its order.

const HELD_AT_MOST_MS = 3000; // whoever drags does not stop the page
const CLICK_MS = 50; // a click comes right after the finger is lifted

let released = null;
let release = null;
let limit = 0;
let socket = null;

export function whenReleased() {
  return released ?? Promise.resolve();
}

function end() {
  clearTimeout(limit);
  released = null;
  release?.();
  release = null;
}

addEventListener("pointerdown", () => {
  end();
  released = new Promise((resolve) => { release = resolve; });
  limit = setTimeout(end, HELD_AT_MOST_MS);
}, { capture: true });

for (const name of ["pointerup", "pointercancel", "dragend"]) {
  addEventListener(name, () => {
    if (!released) return;
    clearTimeout(limit);
    limit = setTimeout(end, CLICK_MS);
  }, { capture: true });
}

document.addEventListener("htmx:wsOpen", (event) => { socket = event.detail.event.target; });

document.addEventListener("htmx:wsBeforeMessage", (event) => {
  if (!released) return;
  event.preventDefault();
  const from = socket;
  const { message } = event.detail;
  released.then(() => { if (from === socket) from.dispatchEvent(new MessageEvent("message", { data: message })); });
});
