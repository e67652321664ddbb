// A time is typed in the zone in which all are shown; the hidden field beside it travels, in ISO 8601 with its zone.

import { readTime, writeForField } from "./times.js";

const HOW = "Write a time as 2026-11-28 14:05, or as now-10m.";
const fields = () => document.querySelectorAll("input[data-moment]");
const hiddenOf = (field) => field.form.elements[field.dataset.moment];

function show() {
  fields().forEach((field) => {
    const ms = Date.parse(hiddenOf(field).value);
    if (!Number.isNaN(ms)) field.value = writeForField(ms);
  });
}

fields().forEach((field) => field.addEventListener("input", () => {
  const iso = field.value.trim() ? readTime(field.value) : "";
  field.setCustomValidity(iso === null ? HOW : "");
  hiddenOf(field).value = iso ?? "";
}));
// A browser shows why it refuses a field only where the field is seen.
fields().forEach((field) => field.addEventListener("invalid", () => {
  const closed = field.closest("details:not([open])");
  if (closed) closed.open = true;
}));
document.addEventListener("zone:changed", show);
show();
