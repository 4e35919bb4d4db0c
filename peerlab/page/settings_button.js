// Where a page is narrow its controls would push the picture off the screen: the host switch stays, a button shows the others.
import { make } from "./dom.js";

const WORTH = 2; // so many others, or more, are folded

export function foldSettings(host) {
  const first = host.querySelector(".pl-segments"), others = host.querySelectorAll("label").length - 1;
  if (!first || others < WORTH) return;
  const button = Object.assign(make("button", "pl-live-button pl-settings", "Settings"), { type: "button" });
  button.setAttribute("aria-expanded", "false");
  button.addEventListener("click", () => button.setAttribute("aria-expanded", String(host.classList.toggle("pl-open"))));
  host.classList.add("pl-folds");
  first.after(button);
}
