// Fetch this page again and replace its live regions (elements with data-live and an id): after a gap in the pushes, when
// the shape of a list changed, and by polling while there is no websocket.

import { rememberFocus, returnFocus } from "./focus.js";
import { holdDuring, whenReleased } from "./hold.js";
import { isPaused } from "./pause.js";
import { reload } from "./reload.js";

const PATIENCE_MS = 10000; // pushes wait no longer for a page that does not come
let running = false;
let again = false;

export async function refreshRegions(ids = null) {
  if (isPaused()) return; // it is fetched when it goes on
  if (running) { again = true; return; }
  running = true;
  try {
    await holdDuring(() => fetchRegions(ids));
  } catch {
    // The console cannot be reached: the banner says so already, and the next attempt comes.
  } finally {
    running = false;
    if (again) { again = false; refreshRegions(); }
  }
}

async function fetchRegions(ids) {
  const asked = { headers: { Accept: "text/html", "X-Refresh": "1" }, cache: "no-store", signal: AbortSignal.timeout(PATIENCE_MS) };
  const address = location.href;
  const response = await fetch(address, asked);
  if (response.redirected && new URL(response.url).pathname === `${document.body.dataset.root}login/`) { reload(); return; }
  const isRefused = document.querySelector("[data-refused]") !== null;
  if (response.status === 404 || (response.ok && isRefused)) {
    if (response.ok === isRefused) reload(); // the thing is gone, or is there by now
    return;
  }
  if (!response.ok) return;
  const text = await response.text();
  await whenReleased();
  // A search or an order chosen meanwhile has another list: the answer is of the one before.
  if (location.href !== address) { again = true; return; }
  if (!isPaused()) replaceRegions(new DOMParser().parseFromString(text, "text/html"), ids);
}

function replaceRegions(fresh, ids) {
  fresh.querySelectorAll("[data-live][id], #heartbeat").forEach((region) => {
    const present = document.getElementById(region.id);
    if (!present || (ids && !ids.includes(region.id))) return;
    const adopted = document.importNode(region, true);
    for (const menu of adopted.querySelectorAll("details.menu[id]")) menu.open = document.getElementById(menu.id)?.open ?? false;
    rememberFocus(present);
    present.replaceWith(adopted);
    returnFocus();
    htmx.process(adopted);
  });
  document.dispatchEvent(new CustomEvent("regions:replaced"));
}
