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

// A suggested topic does not replace one that was typed while it was made; it is offered instead.
(() => {
  let kept = false;
  document.addEventListener("htmx:oobBeforeSwap", ({ detail }) => {
    if (detail.target.id !== "topic-field") return;
    const typed = document.getElementById("id_topic").value.trim();
    const suggested = document.querySelector("#topic-note [name=suggested]")?.value ?? "";
    kept = typed !== "" && typed !== suggested;
    if (kept) detail.shouldSwap = false;
  });
  document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
    if (detail.target.id !== "topic-note" || !kept) return;
    detail.target.querySelector(".offer").hidden = false;
    kept = false;
  });
})();

// Below a select of models stands what is known of the chosen one.
document.addEventListener("change", ({ target }) => {
  const facts = target.id && document.getElementById(`${target.id}_facts`);
  if (!facts) return;
  facts.textContent = target.selectedOptions?.[0]?.dataset.facts ?? "";
  for (const option of target.options ?? []) {
    const known = option.dataset.facts;
    if (option.selected && known) option.label = option.text.slice(0, -` · ${known}`.length);
    else option.removeAttribute("label");
  }
});
