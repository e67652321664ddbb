// A moment is typed in UTC, as all are shown; a browser's own field knows no zone, so the one beside it travels.

document.querySelectorAll("input[data-moment]").forEach((field) => {
  const hidden = field.form.elements[field.dataset.moment];
  if (hidden.value) field.value = new Date(hidden.value).toISOString().slice(0, field.step && field.step !== "60" ? 23 : 16);
  field.addEventListener("input", () => { hidden.value = field.value ? `${field.value}Z` : ""; });
});
