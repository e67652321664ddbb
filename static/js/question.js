// The question before a stop takes the focus, Escape leaves everything as it is, and the button that asked gets the focus back.

const PLACE = "process-question";
let askedBy = "";

// Settled, not only swapped: before that a button does nothing yet.
document.addEventListener("htmx:afterSettle", (event) => {
  if (event.detail.target.id !== PLACE) return;
  const no = noButton();
  if (no) {
    askedBy = event.detail.requestConfig.elt.id || askedBy; // a question that is asked anew was asked by its own form
    no.focus();
  } else if (askedBy) {
    const button = document.getElementById(askedBy);
    (button && !button.disabled ? button : document.getElementById("main")).focus({ preventScroll: true });
    askedBy = "";
  }
});

document.addEventListener("keydown", (event) => { if (event.key === "Escape") noButton()?.click(); });

const noButton = () => document.getElementById(PLACE)?.querySelector("[data-confirm=no]");
