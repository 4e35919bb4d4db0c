// A page within another one's frame, as on a slide: its parent hears the keys that the page does not use.
import { keeps } from "./keys.js";

// Keys that turn pages, as clickers for presenters send them, are the parent's wherever the focus is; it has the focus
// then, too. Escape leaves the frame.
const TURNS = ["PageDown", "PageUp"];
const SILENT = /^(Tab|Shift|Control|Alt|AltGraph|Meta|CapsLock|Dead|Process|Unidentified)$/;
const MOVES = /^(Arrow|Home|End)/;

export function passKeysOn() {
  if (parent === window) return;
  const tell = ({ key, code, keyCode, shiftKey }) => parent.postMessage({ peerlab: "key", key, code, keyCode, shiftKey }, "*");
  const withheld = (event) => event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]");
  const leave = (event) => {
    if (withheld(event) || ![...TURNS, "Escape"].includes(event.key)) return;
    if (event.target !== document.body) event.preventDefault(); // no slider moves, no list is gone through
    event.stopImmediatePropagation();
    parent.focus();
    if (event.key !== "Escape") tell(event);
    else parent.postMessage({ peerlab: "left" }, "*"); // the lab closes the frame's panel
  };
  const pass = (event) => {
    const moves = event.target.matches("input[type=range], .pl-sources") && MOVES.test(event.key);
    if (!withheld(event) && !SILENT.test(event.key) && !moves && !keeps(event)) tell(event);
  };
  addEventListener("keydown", leave, { capture: true });
  addEventListener("keydown", pass); // what the page uses does not come so far
}

// reveal.js tells its frames when their slide appears and leaves; what plays begins at the beginning, what stands stays as it is.
export function followSlides(player) {
  addEventListener("message", ({ data }) => {
    if (data !== "slide:start" && data !== "slide:stop") return;
    player.onSlide = data === "slide:start";
    if (player.onSlide && player.wanted) player.seek(0);
  });
}

// Makes the frame in a notebook as high as its page, which reflows in a narrow one; a page that `fills` its frame leaves it the height that it was given.
export function fitFrame(page, fills = false) {
  try {
    if (frameElement) frameElement.style.height = fills ? "" : `${Math.ceil(page.getBoundingClientRect().height)}px`;
  } catch {
    // of another origin: it keeps the height that it was given
  }
}
