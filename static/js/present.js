// A push may hold rows of other pages of a list: what this page does not show is dropped before htmx looks for its place.

htmx.defineExtension("only-present", {
  transformResponse(text) {
    const template = document.createElement("template");
    template.innerHTML = text;
    [...template.content.children].forEach((child) => {
      if (child.id && !document.getElementById(child.id)) child.remove();
    });
    return template.innerHTML;
  },
});
