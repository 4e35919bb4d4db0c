// What pages have in common that play one parcel and begin by themselves: a race, a step, a network with neighbours.
import { fitFrame, followSlides, passKeysOn } from "./frame.js";
import { followTheme } from "./frame_theme.js";
import { keeps } from "./keys.js";
import { Player } from "./player.js";

// A page that plays: its elements, its player, its theme, the keys that all of them have, and what follows its size.
export class PlayedPage {
  constructor(host, data, wanted, palettes, html) {
    Object.assign(this, { root: host, data, wanted });
    host.innerHTML = html;
    this.calm = matchMedia("(prefers-reduced-motion: reduce)").matches; // then figures change, and nothing rolls
    this.setTheme = followTheme(wanted.theme, palettes);
    this.player = new Player(this.find(".pl-player"), { onCommand: () => {} });
    this.player.wanted = false; // it begins when somebody asks
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  // Gives the player its length, pace (microseconds a second of watching) and the moments that its steps go to.
  load(length, pace, key, moments) {
    const events = { start: moments, through: moments, between: (from, to, visit) => moments.forEach((time, i) => time >= from && time <= to && visit(i, 0)) };
    this.player.load(this, { length, pace, key, events });
  }

  listenToKeys(further, own, play = () => this.player.toggle()) {
    onKeys({ " ": play, ArrowLeft: () => this.player.step(-1), ArrowRight: () => this.player.step(1), Home: () => this.player.seek(0), ...further }, own);
  }

  // Makes a slide as large as fills its window, and no larger.
  fillSlide() {
    if (this.wanted.mode !== "slide") return;
    const { style } = document.documentElement;
    style.setProperty("--np-zoom", 1);
    const { height } = this.root.getBoundingClientRect();
    style.setProperty("--np-zoom", Math.max(0.5, Math.min(innerHeight / height, innerWidth / 1180, 3)).toFixed(3));
  }

  // Paints again where the size of one of its parts is another one.
  paintWhenSized(parts, paint) {
    let size = "";
    const observer = new ResizeObserver(() => {
      const now = parts.map((part) => `${this.find(part).clientWidth}x${this.find(part).clientHeight}`).join();
      if (now === size) return;
      size = now;
      paint();
      this.player.draw();
      if (this.wanted.mode === "frame") fitFrame(this.root);
    });
    for (const part of parts) observer.observe(this.find(part));
  }
}

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
function onKeys(acts, own) {
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
