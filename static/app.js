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

// Enter in a field that names a button presses this one and not the first one of the form.
document.addEventListener("keydown", (event) => {
  const button = event.key === "Enter" && !event.isComposing && document.getElementById(event.target.dataset?.enter);
  if (button) {
    event.preventDefault();
    button.click();
  }
});
