// On a narrow screen the pages and tabs are rows that scroll: the one that is open is brought into view.

document.querySelectorAll("nav [aria-current]").forEach((element) => {
  const row = element.closest("nav");
  row.scrollLeft = element.offsetLeft - row.offsetLeft - (row.clientWidth - element.offsetWidth) / 2;
});
