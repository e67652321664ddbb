// What is copied from a page is plain: numbers are their digits, without the narrow spaces between thousands.

const plain = (text) => text.replace(/(?<=\d)\u202f(?=\d)/g, "").replaceAll("\u202f", " ");

function plainHtml(selection) {
  const holder = document.createElement("div");
  for (let at = 0; at < selection.rangeCount; at += 1) holder.append(selection.getRangeAt(at).cloneContents());
  const texts = document.createTreeWalker(holder, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) texts.currentNode.data = plain(texts.currentNode.data);
  return holder.innerHTML;
}

document.addEventListener("copy", (event) => {
  const selection = document.getSelection();
  const text = selection.toString();
  if (!text.includes("\u202f") || event.target.closest?.("input, textarea")) return;
  event.clipboardData.setData("text/plain", plain(text));
  event.clipboardData.setData("text/html", plainHtml(selection));
  event.preventDefault();
});

// A button that copies an address of this console.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy-link]");
  if (!button) return;
  const address = new URL(button.dataset.copyLink, location.href).href;
  try {
    await navigator.clipboard.writeText(address);
    button.textContent = "Copied";
  } catch {
    prompt("Copy the address:", address);
  }
});

// A button that copies what an element shows. Without the browser's clipboard (no https) the text is selected instead.
document.addEventListener("click", async (event) => {
  const button = event.target.closest("[data-copy]");
  if (!button) return;
  const shown = document.getElementById(button.dataset.copy);
  const element = shown?.querySelector("pre, .json-tree") ?? shown;
  try {
    await navigator.clipboard.writeText(plain(element.innerText));
    button.textContent = "Copied";
  } catch {
    document.getSelection().selectAllChildren(element);
    button.textContent = "Selected: press Ctrl-C";
  }
});
