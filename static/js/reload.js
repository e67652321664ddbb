// Load the page again, but not while its person is on the way elsewhere: that would call it off, and who has just logged
// out would be asked to log in instead of being told that they are out.

const GONE_WITHIN_MS = 5000; // a page that is still here after that stays: what was followed was a download
let leftAt = -Infinity;

addEventListener("beforeunload", () => { leftAt = Date.now(); });

export function reload() {
  const wait = leftAt + GONE_WITHIN_MS - Date.now();
  if (wait > 0) setTimeout(reload, wait);
  else location.reload();
}
