// Is the page live? Shows the state of the websocket, catches up after a gap, and polls while there is none.
import { refreshRegions } from "./regions.js";
import { reload } from "./reload.js";
import { showAges } from "./ages.js";

const SILENCE_MS = 25000; // the server says something at least every 10 s
const POLL_MS = 5000;
const BANNER_AFTER_MS = 1500; // a quick reconnect is not worth a banner
const CLOSED = { 4401: null, 4402: "Live once you have a password of your own.", 4403: "You have no right to see this page live.", 4404: "This page has no live data." };

let socket = null;
let lastMessageAt = Date.now();
let downSince = 0;
let isOver = false;

htmx.config.wsReconnectDelay = (attempt) => Math.min(4000, 300 * 2 ** attempt) * (0.5 + Math.random() / 2);

function show(state, text) {
  const line = document.getElementById("connection");
  line.dataset.state = state;
  line.querySelector("[data-text]").textContent = text;
}

document.addEventListener("htmx:wsOpen", (event) => {
  socket = event.detail.event.target;
  lastMessageAt = Date.now();
  downSince = 0;
  show("live", "live");
  document.getElementById("connection-banner").hidden = true;
  refreshRegions(); // what changed between the drawing of the page and this moment was pushed to nobody
});

document.addEventListener("htmx:wsClose", (event) => {
  const code = event.detail.event.code;
  if (code === 4401 || code === 4409) { reload(); return; }
  if (code in CLOSED) { isOver = true; show("off", CLOSED[code]); return; }
  downSince ||= Date.now();
  show("waiting", "reconnecting");
});

document.addEventListener("htmx:wsError", () => { downSince ||= Date.now(); show("waiting", "reconnecting"); });

for (const name of ["htmx:wsBeforeMessage", "htmx:wsAfterMessage"]) {
  document.addEventListener(name, () => { lastMessageAt = Date.now(); });
}

document.addEventListener("page:resumed", () => refreshRegions());

// An element that arrives with another data-version asks for regions to be fetched again: its data-refreshes, or all.
// With data-spread-ms each page waits for a random part of it, so that not all pages fetch themselves at once.
document.addEventListener("htmx:oobBeforeSwap", (event) => {
  const arriving = event.detail.fragment.firstElementChild;
  if (!arriving?.dataset.version || arriving.dataset.version === event.detail.target.dataset.version) return;
  const refresh = () => refreshRegions(arriving.dataset.refreshes ? arriving.dataset.refreshes.split(" ") : null);
  if (arriving.dataset.spreadMs) setTimeout(refresh, Math.random() * Number(arriving.dataset.spreadMs));
  else refresh();
});

document.addEventListener("regions:replaced", showAges);

// A connection that died without a word: tell the extension, which then connects anew.
setInterval(() => {
  if (socket?.readyState === WebSocket.OPEN && Date.now() - lastMessageAt > SILENCE_MS) {
    lastMessageAt = Date.now();
    socket.close();
    socket.dispatchEvent(new CloseEvent("close", { code: 1006 }));
  }
}, 1000);

setInterval(() => {
  const isDown = downSince && !isOver && Date.now() - downSince > BANNER_AFTER_MS;
  document.getElementById("connection-banner").hidden = !isDown;
}, 500);

setInterval(() => { if (downSince && !isOver && !document.hidden) refreshRegions(); }, POLL_MS);
