// The live page: keeps the stream's position, follows the talk until the reader scrolls up, and counts the seconds.
(() => {
  const NEAR_PX = 120;
  const byId = (id) => document.getElementById(id);

  // --- the stream -------------------------------------------------------------------------------------------------
  // After a failure the extension opens a new EventSource: without Last-Event-ID, at the address of the page load.
  // Asking for what comes after the last message in the page closes that gap, whoever opens the stream and why.
  // A browser allows six connections per site, all tabs together: a tab that nobody looks at has none.
  let source = null;
  let parked = false;
  const lastPosition = () => byId("transcript").lastElementChild?.dataset.position ?? 0;
  const nothing = () => Object.assign(new EventTarget(), { close: () => {}, readyState: EventSource.CLOSED });

  htmx.createEventSource = (address) => {
    parked = document.hidden;
    source = parked ? nothing() : new EventSource(`${address.split("?")[0]}?after=${lastPosition()}`);
    return source;
  };

  // The browser itself reconnects with Last-Event-ID; should a message come twice all the same, the second is dropped.
  document.addEventListener("htmx:sseBeforeMessage", (event) => {
    const { type, lastEventId } = event.detail;
    if (type === "message" && byId(`m-${lastEventId}`)) event.preventDefault();
  });

  const offline = (is) => { byId("offline").hidden = !is; };
  document.addEventListener("htmx:sseOpen", () => offline(false));
  document.addEventListener("htmx:sseError", () => offline(true));
  document.addEventListener("htmx:sseClose", ({ detail }) => {
    if (detail.type === "message") source = null;
  });

  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      parked ||= Boolean(source) && source.readyState !== EventSource.CLOSED;
      if (parked) source.close();
    } else if (parked) {
      htmx.swap("#wire", byId("wire").outerHTML, { swapStyle: "outerHTML" });
    }
  });

  // --- following --------------------------------------------------------------------------------------------------
  const jump = byId("jump");
  const page = document.scrollingElement;
  const atTheEnd = () => page.scrollHeight - page.scrollTop - window.innerHeight < NEAR_PX;
  const calm = window.matchMedia("(prefers-reduced-motion: reduce)");
  let following = atTheEnd() || Boolean(document.querySelector("[sse-connect]"));
  let unseen = 0;
  let lastTop = page.scrollTop;

  const toTheEnd = (behavior) => page.scrollTo({ top: page.scrollHeight, behavior });
  const showJump = () => {
    if (following) unseen = 0;
    jump.hidden = following || !(source || unseen);
    jump.textContent = unseen ? `${unseen} new ↓` : "Jump to live ↓";
  };

  if (following) toTheEnd("instant");

  window.addEventListener("scroll", () => {
    if (page.scrollTop < lastTop) following = false;
    if (atTheEnd()) following = true;
    lastTop = page.scrollTop;
    showJump();
  }, { passive: true });
  jump.addEventListener("click", () => {
    following = true;
    toTheEnd(calm.matches ? "instant" : "smooth");
    showJump();
  });
  document.addEventListener("htmx:sseMessage", ({ detail }) => {
    if (following) toTheEnd("instant");
    else if (detail.type === "message") unseen += 1;
    showJump();
  });
  document.addEventListener("htmx:sseOpen", showJump);

  // --- look-ups and sources, requests to models ---------------------------------------------------------------------
  // A panel is asked for again after what may have changed it, once in a while and never missing the last change.
  const REFRESH_MS = 2000;
  const keepFresh = (panel, worthALook, isShown) => {
    let timer = 0;
    const refresh = () => {
      timer = 0;
      if (isShown()) htmx.trigger(`#${panel.id}-content`, "stale");
    };
    document.addEventListener("htmx:sseMessage", ({ detail }) => {
      if (worthALook.includes(detail.type)) timer ||= setTimeout(refresh, REFRESH_MS);
    });
  };
  const requests = byId("requests");
  keepFresh(requests, ["turn", "totals", "status", "end"], () => requests.open);
  const books = byId("books");
  if (books) {
    books.open = window.matchMedia("(min-width: 84rem)").matches;
    keepFresh(books, ["tool", "message", "status", "end"], () => true);
    document.addEventListener("click", (event) => {
      if (event.target.closest("a.cite")) books.open = true;
    });
  }

  // --- the clock --------------------------------------------------------------------------------------------------
  const two = (number) => String(number).padStart(2, "0");
  const clock = (seconds) => {
    const [hours, minutes, rest] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return hours ? `${hours}:${two(minutes)}:${two(rest)}` : `${minutes}:${two(rest)}`;
  };
  // The server counts every few seconds: what it tells may be a little less than what is shown, and then that stays.
  const LAG_S = 10;
  let shown = 0;
  const tick = () => {
    const ran = byId("ran");
    if (!ran) return;
    ran.dataset.since ??= Date.now();
    const since = "ticks" in ran.dataset ? Math.floor((Date.now() - ran.dataset.since) / 1000) : 0;
    const told = Number(ran.dataset.seconds) + since;
    shown = told < shown && shown - told <= LAG_S ? shown : told;
    ran.textContent = clock(shown);
  };
  setInterval(tick, 1000);
  document.addEventListener("htmx:oobAfterSwap", ({ detail }) => {
    if (detail.target.id === "status") tick();
  });
})();
