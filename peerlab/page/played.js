// What pages have in common that play one parcel and begin by themselves: a race, a step, a network with neighbours.
import { make } from "./dom.js";
import { fitFrame, followSlides, passKeysOn } from "./frame.js";
import { followTheme } from "./frame_theme.js";
import { keeps } from "./keys.js";
import { Player } from "./player.js";

const ROOMY = { width: 1180, height: 640 }; // px
const SETTLES_MS = 250; // browsers refuse an address that changes more than some times a second

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

  // Keeps in the address what a reader chose and the moment where the clock stands, and follows a link that says so. A part is `{ now, go }` by its
  // name: `now()` are its words, `go(words)` shows what they name and returns whether this page holds it.
  keepInAddress(own = {}) {
    const at = { now: () => (this.player.wanted ? "" : String(Number(this.player.time.toFixed(3)))), go: (words) => this.goTo(Number(words)) };
    const parts = { ...own, at }; // the moment comes last: another clock has another length
    const follow = () => {
      const wanted = new URLSearchParams(location.hash.slice(1)), refused = Object.keys(parts).filter((name) => wanted.has(name) && !parts[name].go(wanted.get(name)));
      const lacking = [...refused, ...[...wanted.keys()].filter((name) => !Object.hasOwn(parts, name))].map((name) => `${name}=${wanted.get(name)}`);
      this.note?.remove();
      this.note = lacking.length ? Object.assign(make("span", "", `The link asks for ${lacking.join(", ")}, which this page does not hold.`), { role: "status" }) : null;
      if (this.note) this.find(".pl-player").after(this.note);
    };
    const write = () => {
      const words = Object.entries(parts).map(([name, { now }]) => [name, now()]).filter(([, words]) => words);
      try {
        history.replaceState(null, "", `#${new URLSearchParams(words)}`);
      } catch {
        // a frame without an address of its own has no link
      }
    };
    // Only what somebody did is written: a page keeps the address by which it was opened until then. A dragged clock says much in a second.
    for (const act of ["click", "change", "input", "keyup"])
      document.addEventListener(act, () => {
        clearTimeout(this.writing);
        this.writing = setTimeout(write, SETTLES_MS);
      });
    addEventListener("hashchange", follow);
    follow();
  }

  // Stands at a moment, microseconds; returns whether there is such a moment.
  goTo(time) {
    if (!(time >= 0 && time <= this.player.length)) return false;
    this.player.wanted = false;
    this.player.seek(time);
    return true;
  }

  // How high a slide is in its own pixels where its width fills the window.
  slideHeight() {
    return innerWidth < ROOMY.width || innerHeight < ROOMY.height ? innerHeight : (innerHeight * ROOMY.width) / innerWidth;
  }

  // Makes a slide as large as fills its window, and no larger.
  fillSlide() {
    if (this.wanted.mode !== "slide") return;
    const { style } = document.documentElement;
    style.setProperty("--np-zoom", 1);
    if (innerWidth < ROOMY.width || innerHeight < ROOMY.height) return; // too small for a slide: a page, whose words stay readable
    this.root.style.minHeight = 0; // how high its parts are, whatever its window
    const { height } = this.root.getBoundingClientRect();
    this.root.style.minHeight = "";
    let zoom = Math.max(0.5, Math.min(innerHeight / height, innerWidth / ROOMY.width, 3));
    // larger words break into more lines, which no height at their own size tells
    do style.setProperty("--np-zoom", zoom.toFixed(3));
    while (document.documentElement.scrollHeight > innerHeight && (zoom -= 0.01) > 0.5);
  }

  // Paints again where the size of one of its parts or the height of the window is another one.
  paintWhenSized(parts, paint) {
    let size = "";
    const look = () => {
      const now = [innerHeight, ...parts.map((part) => `${this.find(part).clientWidth}x${this.find(part).clientHeight}`)].join();
      if (now === size) return;
      size = now;
      paint();
      this.player.draw();
      if (this.wanted.mode === "frame") fitFrame(this.root);
    };
    const observer = new ResizeObserver(look);
    for (const part of parts) observer.observe(this.find(part));
    addEventListener("resize", look); // a window that is only higher or lower leaves the parts as they are
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

// A part of the address that is one of several names: `now()` is its number among them, `show(number)` shows another. A link may write it in any case and with any spaces.
export function choiceOf(names, now, show) {
  const plain = (text) => text.replace(/\s/g, "").toLowerCase();
  const go = (words) => {
    const number = names().findIndex((name) => plain(name) === plain(words));
    if (number >= 0) show(number);
    return number >= 0;
  };
  return { now: () => names()[now()] ?? "", go };
}

// Writes a sentence in which no line ends within an option, such as --fabric.
export function writeWhole(element, sentence) {
  element.replaceChildren(...sentence.split(/(--\w+)/).map((part) => {
    const span = make("span", "", part);
    if (part.startsWith("--")) span.style.whiteSpace = "nowrap";
    return span;
  }));
}
