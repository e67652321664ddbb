// Every panel shows how old its data is. The collector's heartbeat brings the moments; here they are counted once a second.

import { isPaused } from "./pause.js";
import { refreshRegions } from "./regions.js";

const STALE_MS = 6000;
// The reader's clock may be wrong: ages are measured on the server's.
const clockSkewMs = Date.now() - Number(document.body.dataset.nowMs || Date.now());

const inWords = (ms) => {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.floor(seconds / 60)} min`;
  return `${Math.floor(seconds / 3600)} h`;
};

export function showAges() {
  const heartbeat = document.getElementById("heartbeat");
  if (!heartbeat) return;
  const now = Date.now() - clockSkewMs;
  document.querySelectorAll("[data-age-of]").forEach((element) => {
    const tier = element.dataset.ageOf;
    if (!(`${tier}AtMs` in heartbeat.dataset)) return;  // of these only the page itself knows
    const atMs = Number(heartbeat.dataset[`${tier}AtMs`]);
    const error = heartbeat.dataset[`${tier}Error`] || "";
    element.textContent = atMs ? `${inWords(now - atMs)} old` : "no data yet";
    element.classList.toggle("is-stale", Boolean(error) || (atMs > 0 && now - atMs > STALE_MS));
    element.title = error;
  });
  showSilence(now, Number(heartbeat.dataset.collectorAtMs));
  showOutage(now, heartbeat.dataset);
}

let wasKnown = null;

// Of a cluster that cannot be read: what is on the page is greyed, and says of when it is.
function showOutage(now, { outage, outageSeenMs }) {
  const banner = document.getElementById("outage-banner");
  if (!banner) return;
  if (wasKnown !== null && wasKnown !== !outage) refreshRegions(); // rows that are not pushed say it, too
  wasKnown = !outage;
  banner.hidden = !outage || isPaused();
  if (banner.hidden) return;
  document.body.toggleAttribute("data-is-old", true);
  const age = Number(outageSeenMs) ? `last read ${inWords(now - Number(outageSeenMs))} ago` : "never read";
  banner.querySelector("[data-text]").textContent = `The state of this cluster is unknown (${age}; tried ${banner.dataset.tried}): ${outage}`;
}

function showSilence(now, collectorAtMs) {
  const banner = document.getElementById("collector-banner");
  const silentMs = now - collectorAtMs;
  banner.hidden = silentMs <= STALE_MS || isPaused();
  document.body.toggleAttribute("data-is-old", !banner.hidden);
  if (banner.hidden) return;
  banner.querySelector("[data-text]").textContent = collectorAtMs
    ? `The collector has been silent for ${inWords(silentMs)}. What you see is as old as that.`
    : "The collector has not run yet.";
}

setInterval(showAges, 1000);
document.addEventListener("htmx:wsAfterMessage", showAges);
showAges();
