// A page stands still for as long as its reader wants: what is pushed meanwhile is dropped, and the page is fetched anew
// when it goes on. It says so all the time; another page, or this one opened again, is live.

let since = 0;

export function isPaused() {
  return since > 0;
}

function show() {
  const banner = document.getElementById("pause-banner");
  banner.hidden = !isPaused();
  if (isPaused()) banner.querySelector("[data-text]").textContent = `What you see is as of ${new Date(since).toISOString().slice(11, 19)} UTC.`;
  document.querySelectorAll("[data-pause-live]").forEach((element) => {
    element.setAttribute("aria-pressed", String(isPaused()));
    element.textContent = isPaused() ? "Go on" : "Pause";
  });
}

document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-pause-live], [data-go-on-live]")) return;
  since = isPaused() ? 0 : Date.now();
  show();
  if (isPaused()) document.querySelectorAll("#collector-banner, #outage-banner").forEach((element) => { element.hidden = true; });
  else document.dispatchEvent(new CustomEvent("page:resumed"));
});
