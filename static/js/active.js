// On a narrow screen the pages and tabs are rows that scroll: the one that is open is brought into view.

document.querySelectorAll("nav [aria-current]").forEach((each) => {
  const row = each.closest("nav");
  row.scrollLeft = each.offsetLeft - row.offsetLeft - (row.clientWidth - each.offsetWidth) / 2;
});
