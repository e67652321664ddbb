// The export of records: how many there are is counted before; while it runs, it says how far it is and can be cancelled.
// Where the browser lets a page write a file, it goes there piece by piece; elsewhere the browser downloads it itself.

const grouped = (number) => new Intl.NumberFormat("en").format(number);
const form = document.querySelector("form.export");
if (form) begin(form, document.getElementById("export"));

function begin(form, panel) {
  const part = (name) => form.querySelector(`[data-${name}]`);
  const progress = part("export-progress");
  const cancel = part("cancel");
  let counting = new AbortController();
  let exporting = null;

  function address(base) {
    const fields = new FormData(form);
    const query = new URLSearchParams([...fields].filter(([, value]) => value !== ""));
    return `${base}?${query}`;
  }

  async function count() {
    counting.abort();
    counting = new AbortController();
    part("export-count").textContent = "Counting…";
    const { signal } = counting;
    try {
      const response = await fetch(address(form.dataset.countUrl), { signal });
      const text = await response.text();
      if (response.ok && !response.redirected) part("export-count").innerHTML = text; // escaped by the server
      else part("export-count").textContent = "The records could not be counted.";
    } catch {
      if (!signal.aborted) part("export-count").textContent = "The records could not be counted.";
    }
  }

  async function pickFile(name) {
    if (!window.showSaveFilePicker) return null;
    const handle = await window.showSaveFilePicker({ suggestedName: name });
    return handle.createWritable();
  }

  async function write(href, file, signal) {
    const response = await fetch(href, { signal });
    if (!response.ok || response.redirected) throw new Error(await refusal(response));
    const total = form.elements.search?.checked ? 0 : Number(part("export-count").querySelector("[data-count]")?.dataset.count ?? 0);
    const reader = response.body.getReader();
    let bytes = 0;
    let lines = 0;
    for (;;) {
      signal.throwIfAborted();
      const { done, value } = await reader.read();
      if (done) return { bytes, lines };
      await file.write(value);
      bytes += value.length;
      for (const byte of value) if (byte === 10) lines += 1;
      const share = total ? ` of ${grouped(total)} (${Math.min(100, Math.round((100 * lines) / total))} %)` : "";
      progress.textContent = `${grouped(lines)}${share} lines, ${(bytes / 1e6).toFixed(1)} MB written.`;
    }
  }

  async function refusal(response) {
    const page = new DOMParser().parseFromString(await response.text(), "text/html");
    return page.querySelector("main p")?.textContent ?? `The console answered ${response.status}.`;
  }

  async function run() {
    const href = address(form.action);
    const topic = form.action.split("/").at(-4);
    let file = null;
    try {
      file = await pickFile(`records-${decodeURIComponent(topic)}.${form.elements.format.value}`);
    } catch {
      progress.textContent = "No file was chosen.";
      return;
    }
    if (file === null) {
      progress.textContent = "The browser downloads the file: its list of downloads shows the progress and can cancel it.";
      location.assign(href);
      return;
    }
    exporting = new AbortController();
    cancel.hidden = false;
    try {
      const { bytes, lines } = await write(href, file, exporting.signal);
      await file.close();
      progress.textContent = `Exported: ${grouped(lines)} lines, ${(bytes / 1e6).toFixed(1)} MB.`;
    } catch (error) {
      await file.abort?.().catch(() => null);
      progress.textContent = exporting.signal.aborted ? "Cancelled: no file was written." : `The export ended early and no file was written. ${error.message}`;
    }
    exporting = null;
    cancel.hidden = true;
  }

  form.addEventListener("submit", (event) => { event.preventDefault(); if (!exporting) run(); });
  form.addEventListener("change", count);
  cancel.addEventListener("click", () => exporting?.abort());
  panel.addEventListener("toggle", () => { if (panel.open) count(); });
  const open = () => { if (location.hash === "#export") panel.open = true; };
  addEventListener("hashchange", open);
  open();
}
