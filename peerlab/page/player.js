// One clock for all views. Time is microseconds of the simulation; the browser owns it, nothing is asked of Python.
import { make } from "./dom.js";
import { sayTime } from "./words.js";

const icon = (path) => `<svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true" fill="currentColor">${path}</svg>`;
const ICONS = {
  play: icon('<path d="M4 2.5v11l9-5.5z"/>'),
  pause: icon('<path d="M3.5 2.5h3v11h-3zM9.5 2.5h3v11h-3z"/>'),
  home: icon('<path d="M3 2.5h2v11H3zM13 2.5v11L5.500 8z"/>'),
  back: icon('<path d="M11.500 2.500v11L6 8zM3.500 6.500h2v3h-2z"/>'),
  next: icon('<path d="M4.500 2.500v11L10 8zM10.500 6.500h2v3h-2z"/>'),
  loop: icon('<path d="M8 2.500a5.500 5.500 0 1 0 5.500 5.500h-2A3.500 3.500 0 1 1 8 4.500V7l4-3.500L8 0z"/>'),
};

export class Player {
  constructor(host, { onCommand }) {
    this.host = host;
    this.runs = new Map(); // what is played: one run of every page that has this clock
    this.onCommand = onCommand;
    this.time = 0;
    this.length = 1;
    this.isPart = false; // whether what is played is the first part of something longer
    this.factor = 1;
    this.loop = true;
    this.visible = true;
    this.onSlide = true;
    this.still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.wanted = !this.still;
    this.frames = 0;
    this.resting = 0;
    this.build();
    this.last = performance.now();
    this.request = requestAnimationFrame((now) => this.tick(now));
  }

  build() {
    const button = (name, icon, title, act) => {
      const one = make("button", `pl-button pl-${name}`);
      one.innerHTML = ICONS[icon] ?? icon;
      one.type = "button";
      one.title = title;
      one.setAttribute("aria-label", title.replace(/ \(.*/, ""));
      one.addEventListener("click", act);
      return one;
    };
    this.playButton = button("play", "", "Play or pause (space)", () => this.toggle());
    this.bar = make("input", "pl-scrub");
    Object.assign(this.bar, { type: "range", min: 0, max: 1000, step: 1, value: 0 });
    this.bar.setAttribute("aria-label", "Time");
    this.bar.addEventListener("input", () => {
      this.wanted = false;
      this.seek((this.bar.value / 1000) * this.length);
    });
    this.clock = make("span", "pl-clock");
    this.speed = make("select", "pl-speed");
    this.speed.setAttribute("aria-label", "Speed");
    for (const factor of [0.1, 0.25, 0.5, 1, 2, 4, 10]) this.speed.append(new Option("", factor, factor === 1, factor === 1));
    this.speed.addEventListener("change", () => this.choose(Number(this.speed.value)));
    this.loopButton = button("loop", "loop", "Play in a loop", () => {
      this.loop = !this.loop;
      this.show();
    });
    this.helpButton = button("keys", "?", "Keys (?)", () => this.onCommand("help"));
    this.host.append(
      this.playButton,
      button("home", "home", "Back to the beginning (Home)", () => this.seek(0)),
      button("back", "back", "Step back to the event before (left arrow)", () => this.step(-1)),
      button("next", "next", "Step to the next event (right arrow)", () => this.step(1)),
      this.loopButton,
      this.bar,
      this.clock,
      this.speed,
      this.helpButton,
    );
    this.show();
  }

  // A run of a page to play. The pace stays while only the path changes, so that before and after can be compared by eye.
  load(page, run) {
    this.runs.set(page, run);
    const runs = [...this.runs.values()], key = runs.map((one) => one.key).join();
    if (key !== this.key) {
      this.pace = Math.max(...runs.map((one) => one.pace));
      this.time = 0;
    }
    this.key = key;
    this.length = Math.max(...runs.map((one) => one.length)) || 1;
    this.time = Math.min(this.time, this.length);
    for (const option of this.speed.options) option.textContent = `1 s = ${sayTime(this.pace * Number(option.value))}`;
    this.show();
    this.draw();
  }

  // Plays `factor` times as fast as the pace says.
  choose(factor) {
    this.factor = factor;
    this.speed.value = factor;
  }

  get playing() {
    return this.wanted && this.visible && this.onSlide && !document.hidden && this.length > 1e-6;
  }

  // Microseconds that pass per second of watching.
  get flow() {
    return (this.pace ?? 1) * this.factor;
  }

  tick(now) {
    const elapsed = Math.min(now - this.last, 100);
    this.last = now;
    if (this.playing && this.runs.size && now > this.resting) {
      this.time += (elapsed / 1000) * this.flow;
      if (this.time >= this.length) {
        this.time = this.loop ? this.time % this.length : this.length;
        if (!this.loop) this.wanted = false;
        this.show();
      }
      this.draw();
      this.frames += 1;
    }
    this.request = requestAnimationFrame((next) => this.tick(next));
  }

  // Stands still for a moment, so that the answer to a switch need not wait for frames of the old picture.
  rest() {
    this.resting = performance.now() + 200;
  }

  draw() {
    this.bar.value = Math.round((this.time / this.length) * 1000);
    const now = sayTime(this.time), text = `${now} of ${this.isPart ? "the first " : ""}${sayTime(this.length)}`;
    if (text !== this.clock.textContent) {
      this.clock.replaceChildren(make("b", "", now), make("span", "", text.slice(now.length)));
      this.bar.setAttribute("aria-valuetext", text);
    }
    for (const [page, run] of this.runs) page.draw(Math.min(this.time, run.length), this.flow);
  }

  show() {
    this.playButton.innerHTML = ICONS[this.wanted ? "pause" : "play"];
    this.playButton.setAttribute("aria-pressed", String(this.wanted));
    this.loopButton.setAttribute("aria-pressed", String(this.loop));
  }

  toggle() {
    if (!this.wanted && this.time >= this.length) this.time = 0;
    this.wanted = !this.wanted;
    this.show();
  }

  seek(time) {
    this.time = Math.max(0, Math.min(time, this.length));
    this.show();
    this.draw();
  }

  // To the next (or the last) moment at which a slice begins or ends a stage.
  step(direction) {
    this.wanted = false;
    this.seek(this.nextEvent(direction));
  }

  nextEvent(direction) {
    const tiny = this.length * 1e-7 + 1e-4;
    for (let reach = this.length / 1000; ; reach *= 4) {
      const [from, to] = direction > 0 ? [this.time + tiny, this.time + reach] : [this.time - reach, this.time - tiny];
      let best = direction > 0 ? Infinity : -Infinity;
      for (const { events } of this.runs.values())
        events.between(from, to, (i, shift) => {
          for (const moment of [events.start[i] + shift, events.through[i] + shift])
            if (moment >= from && moment <= to) best = direction > 0 ? Math.min(best, moment) : Math.max(best, moment);
        });
      if (isFinite(best)) return best;
      if (reach > 2 * this.length) return direction > 0 ? this.length : 0;
    }
  }

  close() {
    cancelAnimationFrame(this.request);
  }
}
