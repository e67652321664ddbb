// A search and the live tail of the messages tab, over a websocket of their own. The page says when it has taken what
// came, and only then more is read: a slow or paused page slows the reading, not the console.

import { whenReleased } from "./hold.js";

const ROWS_MAX = 500;
// A tail that dropped is opened again after so long, twice as long each time it fails.
const RETRY_MS = 1000;
const RETRY_MS_MAX = 30000;
const live = document.getElementById("records-live");
if (live) begin();

function begin() {
  const rows = document.getElementById("record-rows");
  const part = (name) => live.querySelector(`[data-${name}]`);
  const filters = document.querySelector(".record-filters");
  let socket = null;
  let mode = "";
  let isPaused = false;
  let position = "";
  let outlook = "";
  let further = null; // the address on which a search was continued
  let retryMs = RETRY_MS;
  let retry = 0;

  const say = (text) => { part("state").textContent = text; };

  function open(wanted) {
    mode = wanted;
    position = "";
    part("status").textContent = "";
    if (mode === "tail") rows.replaceChildren();
    connect();
  }

  // Goes on where a search that ended offers it; what it has found stays.
  function goOn(address) {
    further = new URLSearchParams(new URL(address, location.href).search);
    part("offers").replaceChildren();
    rows.querySelector("tr.none")?.remove();
    connect();
  }

  // Begins, or goes on where a tail that dropped has been.
  function connect() {
    clearTimeout(retry);
    socket?.close();
    setPaused(false);
    live.hidden = false;
    part("stop").hidden = part("pause").hidden = false;
    part("offers").replaceChildren();
    say("Looking for the place to begin…");
    const parameters = mode === "search" ? new URLSearchParams(further ?? location.search) : new URLSearchParams(new FormData(filters));
    if (mode === "tail") parameters.delete("cursor");
    if (position) parameters.set("cursor", position);
    parameters.set("topic", live.dataset.topic);
    parameters.set("mode", mode);
    const current = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${document.body.dataset.root}ws/records/?${parameters}`);
    socket = current;
    current.onmessage = async (event) => {
      await whenReleased();
      if (socket === current) take(JSON.parse(event.data));
    };
    current.onclose = (event) => {
      if (socket !== current) return;
      if (mode === "tail" && event.code < 4000) { comeBack(); return; }
      over({ 4401: "You are logged out.", 4402: "Choose a password of your own first.", 4403: "You have no right to read this topic.", 4404: "There is no such topic.", 4409: "Your rights changed: load the page again." }[event.code]
        ?? "The connection dropped.");
    };
  }

  const doing = () => (mode === "search" ? outlook : "Following: what is written from now on appears here.");

  function comeBack() {
    socket = null;
    part("pause").hidden = true;
    say(`The connection dropped; trying again in ${Math.round(retryMs / 1000)} s.`);
    retry = setTimeout(connect, retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
  }

  function take(message) {
    if (mode === "tail" && message.cursor) position = message.cursor;
    if (message.began) { retryMs = RETRY_MS; outlook = message.outlook; say(doing()); return; }
    if (message.rows) show(message.rows);
    if (message.status !== undefined && message.status.trim()) part("status").innerHTML = message.status;
    socket.send(JSON.stringify({ taken: 1 }));
    if (!message.ended) return;
    const isSearch = mode === "search";
    over(message.error || message.summary || `Stopped: ${message.ended}.`, reasons[message.ended]);
    if (!isSearch) return;
    if (!message.error && !rows.children.length) rows.append(noRow("No record that was searched matches."));
    part("offers").innerHTML = message.offers ?? "";
  }

  const reasons = { "limit reached": "It stopped at as many records as the page shows.", "time budget used": "It stopped after the time that one search may take.", "byte budget used": "It stopped after the bytes that one search may read or hold." };

  // The rows come escaped from the server, as every partial does.
  function show(html) {
    const template = document.createElement("template");
    template.innerHTML = html;
    const arrived = [...template.content.querySelectorAll("tr")].filter((row) => mode === "tail" || !document.getElementById(row.id));
    document.dispatchEvent(new CustomEvent("records:arrive", { detail: arrived }));
    if (mode === "tail") rows.prepend(...arrived.reverse());
    else arrived.forEach(put);
    while (mode === "tail" && rows.children.length > ROWS_MAX) rows.lastElementChild.remove();
  }

  // A search continued, or of a key's own partition first, finds records that belong between others.
  function put(row) {
    const isNewestFirst = live.dataset.place === "newest";
    const comesBefore = (other) => (isNewestFirst ? Number(other.dataset.at) < Number(row.dataset.at) : Number(other.dataset.at) > Number(row.dataset.at));
    let before = null;
    for (let other = rows.lastElementChild; other && comesBefore(other); other = other.previousElementSibling) before = other;
    rows.insertBefore(row, before);
  }

  function noRow(text) {
    const row = document.createElement("tr");
    const cell = row.insertCell();
    cell.colSpan = rows.closest("table").tHead.rows[0].cells.length;
    row.className = "none";
    cell.className = "empty";
    cell.textContent = text;
    return row;
  }

  function over(text, reason = "") {
    const ended = socket;
    clearTimeout(retry);
    socket = null;
    ended?.close();
    part("stop").hidden = part("pause").hidden = true;
    say(reason ? `${text} ${reason}` : text);
  }

  function setPaused(wanted) {
    isPaused = wanted;
    part("pause").textContent = isPaused ? "Resume" : "Pause";
    part("pause").setAttribute("aria-pressed", isPaused);
  }

  part("pause").addEventListener("click", () => {
    if (!socket) return;
    setPaused(!isPaused);
    socket.send(JSON.stringify({ pause: isPaused }));
    say(isPaused ? "Paused." : doing());
  });
  part("stop").addEventListener("click", () => over(mode === "search" ? "Stopped by you: the rest was not searched." : "Stopped by you."));
  part("offers").addEventListener("click", (event) => {
    const link = event.target.closest("a[data-continue]");
    if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    goOn(link.href);
  });
  document.querySelector("[data-follow]").addEventListener("click", () => open("tail"));
  addEventListener("pagehide", () => { clearTimeout(retry); const left = socket; socket = null; left?.close(); });
  if (live.dataset.mode) open(live.dataset.mode);
}

const produce = document.getElementById("produce");
const openProduce = () => { if (produce && location.hash === "#produce") produce.open = true; };
addEventListener("hashchange", openProduce);
openProduce();
