// A record beside the list it stands in: a click on its place opens it, arrows go on to the next, Escape closes.
const drawer = document.getElementById("record-drawer");
const rows = () => [...document.querySelectorAll("#record-rows tr[id]")];
const shown = () => document.querySelector("#record-rows tr[aria-current]");

let asked = new AbortController();

async function show(href, row = shown()) {
  asked.abort();
  asked = new AbortController();
  const headers = { "HX-Request": "true", "HX-Target": drawer.id };
  const signal = asked.signal;
  const response = await fetch(href, { headers, signal, cache: "no-store" }).catch(() => null);
  if (response === null) return; // another one was asked for, or the console is away: its banner says so
  if (!response.ok || response.redirected) { location.assign(href); return; }
  const part = await response.text().catch(() => null);
  if (part === null || signal.aborted) return;
  drawer.innerHTML = part; // escaped by the server, as every partial is
  drawer.scrollTop = 0;
  shown()?.removeAttribute("aria-current");
  row?.setAttribute("aria-current", "true");
  row?.scrollIntoView({ block: "nearest" });
  if (!drawer.hidden) return;
  drawer.hidden = false;
  drawer.focus();
}

function step(by) {
  const all = rows();
  const next = all[all.indexOf(shown()) + by];
  const link = next?.querySelector("a[data-drawer]");
  if (link) show(link.href, next);
}

function close() {
  asked.abort();
  drawer.hidden = true;
  drawer.replaceChildren();
  shown()?.querySelector("a[data-drawer]")?.focus();
  shown()?.removeAttribute("aria-current");
}

const isTyping = (target) => target.closest("input, select, textarea, [contenteditable]") !== null;

if (drawer) {
  document.addEventListener("click", (event) => {
    const link = event.target.closest("a[data-drawer]");
    if (link && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      show(link.href, link.closest("#record-rows tr") ?? shown());
    }
    const by = event.target.closest("#record-drawer [data-step]");
    if (by) step(Number(by.dataset.step));
    if (event.target.closest("#record-drawer [data-close]")) close();
  });
  document.addEventListener("keydown", (event) => {
    if (drawer.hidden || isTyping(event.target) || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape") close();
    else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      step(event.key === "ArrowDown" ? 1 : -1);
    }
  });
}
