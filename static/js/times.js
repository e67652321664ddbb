// Every moment on every page is in UTC, as in logs, files and sentences. The reader's own time is in its tip.

const own = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });
const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;

function tell(root) {
  root.querySelectorAll("time[datetime]").forEach((each) => {
    const moment = new Date(each.getAttribute("datetime"));
    if (!Number.isNaN(moment.getTime())) each.title = `${own.format(moment)} in ${zone}`;
  });
}

tell(document);
document.addEventListener("htmx:oobBeforeSwap", (event) => tell(event.detail.fragment));
document.addEventListener("htmx:afterSettle", (event) => tell(event.detail.elt));
document.addEventListener("regions:replaced", () => tell(document));
document.addEventListener("records:arrive", (event) => event.detail.forEach(tell));
