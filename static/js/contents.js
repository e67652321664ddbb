// Has a topic counted, over a websocket of its own: how far it is, and the page anew when it is over.

const form = document.getElementById("contents-form");
if (form) begin();

function begin() {
  const live = document.getElementById("contents-live");
  const part = (name) => live.querySelector(`[data-${name}]`);
  const button = form.querySelector("button");
  let socket = null;

  const say = (text) => { part("state").textContent = text; };

  function over(text) {
    const ended = socket;
    socket = null;
    ended?.close();
    part("stop").hidden = true;
    button.disabled = false;
    button.title = "";
    say(text);
  }

  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const parameters = new URLSearchParams(new FormData(form));
    parameters.set("topic", form.dataset.topic);
    parameters.set("mode", "contents");
    live.hidden = part("stop").hidden = false;
    button.disabled = true;
    button.title = "It is being read already.";
    part("status").textContent = "";
    say("Looking for the place to begin…");
    const current = new WebSocket(`${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${document.body.dataset.root}ws/contents/?${parameters}`);
    socket = current;
    current.onmessage = (message) => { if (socket === current) take(JSON.parse(message.data)); };
    current.onclose = (closed) => {
      if (socket !== current) return;
      over({ 4401: "You are logged out.", 4402: "Choose a password of your own first.", 4403: "You have no right to read this topic.", 4404: "There is no such topic.", 4409: "Your rights changed: load the page again." }[closed.code]
        ?? "The connection dropped; nothing was kept.");
    };
  });

  function take(message) {
    if (message.began) { say(message.outlook); return; }
    // It comes escaped from the server, as every partial does.
    if (message.status !== undefined) part("status").innerHTML = message.status;
    socket.send(JSON.stringify({ taken: 1 }));
    if (message.error) over(message.error);
    else if (message.ended) { over("Counted."); location.reload(); }
  }

  part("stop").addEventListener("click", () => over("Stopped by you; nothing was kept."));
  addEventListener("pagehide", () => { const left = socket; socket = null; left?.close(); });
}
