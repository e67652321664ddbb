// Moments arrive in UTC and are shown in the reader's zone, with the zone.

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const clock = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const minute = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const day = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" });
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function localise(root) {
  root.querySelectorAll("time[datetime]").forEach((each) => {
    const moment = new Date(each.getAttribute("datetime"));
    if (Number.isNaN(moment.getTime())) return;
    const isToday = moment.toDateString() === new Date().toDateString();
    each.textContent = "short" in each.dataset ? (isToday ? clock : day).format(moment) : format.format(moment);
    each.title = `${each.getAttribute("datetime")} · shown in ${zone}`;
  });
  localiseTips(root);
}

function localiseTips(root) {
  root.querySelectorAll("title[data-at-ms]").forEach((each) => {
    const moment = new Date(Number(each.dataset.atMs));
    each.textContent = each.textContent.replace(/^.*? · /, `${minute.format(moment)} · `);
  });
}

localise(document);
document.addEventListener("htmx:oobBeforeSwap", (event) => localise(event.detail.fragment));
document.addEventListener("htmx:afterSettle", (event) => localise(event.detail.elt));
document.addEventListener("regions:replaced", () => localise(document));
document.addEventListener("records:arrive", (event) => event.detail.forEach(localise));
