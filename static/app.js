// Says so when the server does not answer a request, or refuses it; htmx itself would be silent.
(() => {
  const say = (sentence) => {
    const note = document.createElement("p");
    note.className = "message error";
    note.textContent = sentence;
    document.getElementById("messages").replaceChildren(note);
  };
  document.addEventListener("htmx:sendError", () => say("The server cannot be reached. Nothing was changed; try again."));
  document.addEventListener("htmx:responseError", (event) => {
    const gone = event.detail.xhr.status === 404;
    say(gone ? "This is not there any more." : "The server could not do this. Reload the page and try again.");
  });
})();
