// A moment is typed in the reader's zone and travels in UTC: the visible field writes the hidden one beside it.

const local = (moment) => new Date(moment.getTime() - moment.getTimezoneOffset() * 60000).toISOString().slice(0, 16);

document.querySelectorAll("input[data-moment]").forEach((field) => {
  const hidden = field.form.elements[field.dataset.moment];
  if (hidden.value) field.value = local(new Date(hidden.value));
  field.addEventListener("input", () => { hidden.value = field.value ? new Date(field.value).toISOString() : ""; });
});
