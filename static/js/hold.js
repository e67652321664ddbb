// What arrives over the page's websocket waits, in its order,
// - while a mouse button or a finger is down: what is pressed on one element and let go on its successor is no click;
// - while the page is fetched again: what was drawn before must not stand where what was pushed since stood.

import { isPaused } from "./pause.js";

const PRESSED_AT_MOST_MS = 3000; // whoever drags does not stop the page
const CLICK_MS = 50; // a click comes right after the finger is lifted

const waiting = [];
let socket = null;
let isDelivering = false;
let fetches = 0;
let released = null;
let release = null;
let limit = 0;

export function whenReleased() {
  return released ?? Promise.resolve();
}

export async function holdDuring(fetching) {
  fetches += 1;
  try {
    return await fetching();
  } finally {
    fetches -= 1;
    deliver();
  }
}

function deliver() {
  if (isDelivering) return;
  isDelivering = true;
  while (waiting.length && !released && !fetches) {
    const { from, message } = waiting.shift();
    if (from === socket) from.dispatchEvent(new MessageEvent("message", { data: message }));
  }
  isDelivering = false;
}

function endPress() {
  clearTimeout(limit);
  released = null;
  release?.();
  release = null;
  deliver();
}

addEventListener("pointerdown", () => {
  endPress();
  released = new Promise((resolve) => { release = resolve; });
  limit = setTimeout(endPress, PRESSED_AT_MOST_MS);
}, { capture: true });

for (const name of ["pointerup", "pointercancel", "dragend"]) {
  addEventListener(name, () => {
    if (!released) return;
    clearTimeout(limit);
    limit = setTimeout(endPress, CLICK_MS);
  }, { capture: true });
}

document.addEventListener("htmx:wsOpen", (event) => { socket = event.detail.event.target; });

document.addEventListener("htmx:wsBeforeMessage", (event) => {
  if (isPaused()) { event.preventDefault(); return; }
  if (isDelivering || (!released && !fetches && !waiting.length)) return;
  event.preventDefault();
  waiting.push({ from: socket, message: event.detail.message });
});
