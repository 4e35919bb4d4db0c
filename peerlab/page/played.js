// What pages have in common that play one parcel and begin by themselves: a race, a step, a network with neighbours.
import { followSlides, passKeysOn } from "./frame.js";
import { keeps } from "./keys.js";

// Makes the page of the data in the document; the parcel stands first in it.
export function beginPlayed(prefix, Kind) {
  const { wanted, palettes, ...given } = JSON.parse(document.getElementById(`${prefix}-data`).textContent), [parcel] = Object.values(given);
  const page = new Kind(document.querySelector(`.${prefix}-root`), parcel, wanted, palettes);
  (window.peerlabPages ??= new Set()).add(page);
  if (wanted.mode === "slide") followSlides(page.player);
  passKeysOn();
  document.documentElement.dataset.ready = "yes";
}

// Does what keys are for, by their names; `own` says whether a key is for the control that has the focus.
export function onKeys(acts, own) {
  document.addEventListener("keydown", (event) => {
    if (!acts[event.key] || event.ctrlKey || event.metaKey || event.altKey || keeps(event) || own(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // else a frame's parent would hear of it
    acts[event.key]();
  });
}

// Whether a key is for a field or a list of the page: arrows, Home and letters.
export function forControl({ target, key }) {
  return target.matches("input, select") && /^(Arrow|Home|[a-z]$)/.test(key);
}

// Writes words where they have changed.
export function showWords(element, words) {
  if (element.textContent !== words) element.textContent = words;
}
