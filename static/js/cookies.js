// A choice kept in a cookie, so that the server draws the next page in it and nothing flickers.

export function keepChoice(name, value, seconds) {
  const secure = location.protocol === "https:" ? "; Secure" : "";
  const path = new URL("../..", document.querySelector("link[rel=icon]").href).pathname; // above static/img/
  document.cookie = `${name}=${value}; Path=${path}; SameSite=Lax; Max-Age=${seconds}${secure}`;
}
