// Asks every few seconds for the part of the page that changes, and puts it in
// place. Without this the page is as it was loaded.
"use strict";
(() => {
  const every = 5000;
  const region = document.getElementById("live");
  const status = document.getElementById("live-status");
  const button = document.getElementById("live-pause");
  if (!region || !status || !button || !window.fetch) return;
  let tag = "", failures = 0, paused = false;

  const say = (text) => { if (status.textContent !== text) status.textContent = text; };

  button.hidden = false;
  button.addEventListener("click", () => {
    paused = !paused;
    button.setAttribute("aria-pressed", String(paused));
    button.textContent = paused ? "Go on updating" : "Pause updates";
    say(paused ? "Updates are paused." : "This page updates by itself.");
  });

  // What the reader opened and where the focus is stays, as far as it has a name.
  const replace = (html) => {
    const open = [...region.querySelectorAll("details[open][id]")].map((d) => d.id);
    const focus = region.contains(document.activeElement) ? document.activeElement.id : "";
    region.innerHTML = html;
    for (const id of open) {
      const details = document.getElementById(id);
      if (details) details.open = true;
    }
    const focused = focus && document.getElementById(focus);
    if (focused) focused.focus({ preventScroll: true });
  };

  // A selection, or a focus that has no name to find it by, would be lost.
  const busy = () => {
    const selection = document.getSelection();
    const active = document.activeElement;
    return (selection && !selection.isCollapsed && region.contains(selection.anchorNode)) || (region.contains(active) && !active.id);
  };

  const look = async () => {
    if (!paused && !document.hidden && !busy()) {
      try {
        const answer = await fetch(location.href, { headers: { "Segue-Live": "1", "If-None-Match": tag }, cache: "no-store", redirect: "error" });
        if (answer.status === 401) {
          say("Your session has ended: reload the page to log in.");
          return;
        }
        if (answer.status === 200) {
          tag = answer.headers.get("ETag") || "";
          const html = await answer.text();
          if (!paused && !busy()) replace(html);
        } else if (answer.status !== 304) {
          throw new Error(String(answer.status));
        }
        failures = 0;
        say("This page updates by itself.");
      } catch {
        failures++;
        say("The server does not answer: what you see may be old.");
      }
    }
    setTimeout(look, every * Math.min(1 + failures, 12));
  };
  setTimeout(look, every);
})();
