// Tells the console which rows (data-row) this page shows: it gets those, and no others. data-moves: their order changes.

let socket = null;
let said = "";

function sayShown() {
  if (socket?.readyState !== WebSocket.OPEN) return;
  const rows = [...document.querySelectorAll("[data-row][id]")].map((element) => element.id);
  const text = JSON.stringify({ rows, moves: document.querySelector("[data-moves]") !== null });
  if (text === said) return;
  said = text;
  socket.send(text);
}

document.addEventListener("htmx:wsOpen", (event) => { socket = event.detail.event.target; said = ""; sayShown(); });
document.addEventListener("regions:replaced", () => { said = ""; sayShown(); }); // drawn anew: what changed just now may be missing
document.addEventListener("htmx:afterSettle", sayShown);
