// Times are in the reader's own zone or, by choice, in UTC. The server draws a page in the zone that the cookie names;
// what is pushed, and every time of a page drawn in another zone, is written here, in the form the server gives it.

import { keepChoice } from "./cookies.js";

const CHOSEN_UTC = "utc";
const YEAR_SECONDS = 365 * 24 * 3600;
const ENDS = { min: 5, ms: 12 };
const root = document.documentElement;
const local = Intl.DateTimeFormat().resolvedOptions().timeZone;
let isUtc = root.dataset.zone === CHOSEN_UTC;
let isDrawnHere = false; // the server knows no zone of this name, or draws what follows in another

const offsetOf = (ms) => (isUtc ? 0 : Math.trunc(-new Date(ms).getTimezoneOffset()));
const partsOf = (ms) => new Date(ms + 60000 * offsetOf(ms)).toISOString().slice(0, -1).split("T");
const two = (number) => String(Math.floor(number)).padStart(2, "0");

function zoneAt(ms) {
  const minutes = offsetOf(ms);
  const apart = Math.abs(minutes);
  return minutes ? `${minutes < 0 ? "-" : "+"}${two(apart / 60)}:${two(apart % 60)}` : "UTC";
}

export function writeTime(ms, form) {
  const [day, time] = partsOf(ms);
  if (form === "short") return day === partsOf(Date.now())[0] ? `${time.slice(0, 8)} ${zoneAt(ms)}` : day;
  return `${day} ${time.slice(0, ENDS[form] ?? 8)} ${zoneAt(ms)}`;
}

// For a field: without its zone, and no more of its seconds than there are.
export function writeForField(ms) {
  return partsOf(ms).join(" ").replace(/(:00)?\.000$/, "");
}

// What a person writes, as ISO 8601; null for what is no time: 2026-11-28 14:05, with a zone or without, now, now-10m.
export function readTime(text) {
  const ago = /^now(?:\s*-\s*(\d{1,6})\s*([smhd]))?$/.exec(text.trim());
  if (ago) return new Date(Date.now() - (ago[1] ?? 0) * { s: 1e3, m: 6e4, h: 36e5, d: 864e5 }[ago[2] ?? "s"]).toISOString();
  const parts = /^(\d{4}-\d\d-\d\d)(?:[ T](\d\d:\d\d(?::\d\d(?:[.,]\d{1,3})?)?))?\s*(UTC|Z|[+-]\d\d:?\d\d)?$/i.exec(text.trim());
  if (!parts) return null;
  const zone = (parts[3] ?? (isUtc ? "Z" : "")).toUpperCase().replace("UTC", "Z");
  const ms = Date.parse(`${parts[1]}T${(parts[2] ?? "00:00").replace(",", ".")}${zone}`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

function draw(part) {
  part.querySelectorAll("time[datetime]").forEach((time) => {
    const ms = Date.parse(time.dateTime);
    if (!Number.isNaN(ms)) time.textContent = writeTime(ms, time.dataset.form);
  });
}

function useZone(name, seconds) {
  isUtc = name === CHOSEN_UTC;
  if (root.dataset.zone !== name) {
    isDrawnHere = true;
    root.dataset.zone = name;
    keepChoice("barnabas_zone", name, seconds);
    draw(document);
  }
  document.querySelectorAll("[data-zone-toggle]").forEach((button) => { button.textContent = `Times: ${isUtc ? "UTC" : `local (${local})`}`; });
}

useZone(isUtc ? CHOSEN_UTC : local, YEAR_SECONDS);
document.addEventListener("click", (event) => {
  if (!event.target.closest("[data-zone-toggle]")) return;
  useZone(isUtc ? local : CHOSEN_UTC, YEAR_SECONDS);
  document.dispatchEvent(new CustomEvent("zone:changed"));
});
document.addEventListener("pointerover", (event) => {
  const time = event.target.closest?.("time[datetime]");
  if (time) time.title = time.dateTime;
});
document.addEventListener("htmx:oobBeforeSwap", (event) => draw(event.detail.fragment));
for (const name of ["htmx:afterSettle", "regions:replaced"]) document.addEventListener(name, () => { if (isDrawnHere) draw(document); });
document.addEventListener("records:arrive", (event) => event.detail.forEach(draw));
