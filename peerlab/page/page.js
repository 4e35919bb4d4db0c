// A page that shows a scenario: it has views, listens to its model, owns the clock, and cleans up. In the lab the model is
// anywidget's, with a kernel behind it (lab.js); in an exported page it is an album of states (album.js).
import { make } from "./dom.js";
import { Figures } from "./figures.js";
import { Keys } from "./keys.js";
import { Player } from "./player.js";
import { markRest } from "./pointer_rest.js";
import { LARGER } from "./timeline.js";
import { painted, turn } from "./turns.js";
import { VIEWS } from "./views.js";

const WORDS_OF_SCENE = 12 / 11; // of the words around it: its smallest are then as large as theirs
export const SPARSE = 840; // pixels: a data path that is less wide has names only

const LAYOUT = `
<div class="pl-status" role="status" aria-live="polite" hidden><span></span><button type="button" class="pl-button pl-cancel">Cancel</button></div>
<div class="pl-player" role="group" aria-label="Player"></div>
<div class="pl-lower"></div>
<dialog class="pl-help" aria-label="Keys and signs"></dialog>`;

/**
 * @typedef {object} Parcel What the page gets for one run
 * @property {Meta} meta
 * @property {Card[] | null} before
 * @property {Object<string, Object<string, *>>} views
 */
/**
 * @typedef {object} Meta What concerns the page as a whole, or several views
 * @property {number} number
 * @property {string} key
 * @property {number} end_us
 * @property {number | null} before_us
 * @property {number} nodes
 * @property {string} counted
 * @property {number} devices
 * @property {number} drawn
 * @property {number} steps
 * @property {number} reducing
 * @property {string} collective
 * @property {boolean} ring
 * @property {boolean} sums
 * @property {number} recorded
 * @property {string} hot
 * @property {string} code
 * @property {string} words
 * @property {Mark} mark
 * @property {Mark | null} ghost
 * @property {Object<string, string>} settings
 * @property {Object<string, string> | null} settings_before
 */
export class Page {
  // With a `leader`, another page, both have its clock and its player.
  constructor(model, el, leader = null) {
    this.model = model;
    this.leader = leader;
    this.root = make("div", "pl-root");
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "Data path explorer. Press ? for keys.");
    this.root.innerHTML = LAYOUT;
    for (const { place, html } of Object.values(this.kinds)) this.root.querySelector(place[1]).insertAdjacentHTML(place[0], html);
    el.appendChild(this.root);
    this.views = {};
    this.scale = { bits: false, device: false, factor: 1, unit: "GB/s" }; // in which bandwidths are shown
    this.applied = 0;
    this.over = new AbortController(); // whoever listens outside of this page listens until it closes
    this.closers = [];
    this.keyboard = this.root;
  }

  // Name to class of its views.
  get kinds() {
    return VIEWS;
  }

  // Whether the player sits in the head of the timeline.
  get seated() {
    return true;
  }

  // While this is off the screen, the clock stands.
  get watched() {
    return this.find(".pl-scene");
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  async start(signal) {
    const say = (text) => (this.find(".pl-scene").textContent = text);
    say("Loading the figures");
    await this.ready(say, signal);
    if (signal?.aborted) return;
    say("");
    const places = Object.entries(this.kinds).flatMap(([name, { figure }]) => (figure ? [[name, this.find(figure)]] : []));
    this.figures = await Figures.embed(this.model.get("document"), Object.fromEntries(places), this.model.get("palettes"));
    if (signal?.aborted) return this.figures.close();
    this.build();
    this.makeRoom(this.model.get("data"));
    this.setTheme();
    this.listen();
    this.applyData();
    this.applyStatus();
    this.figures.show();
  }

  // Writes what the height of the figures depends on, so that they are painted once.
  makeRoom(data) {
    if (data.meta) this.each((view, name) => view.makeRoom(data.views[name], data));
  }

  // Resolves when there is something to draw on, and with: a place in the page, and BokehJS.
  async ready() {}

  build() {
    this.player = this.leader?.player ?? new Player(this.find(".pl-player"), { onCommand: (command) => this.command(command) });
    this.find(".pl-player").hidden = Boolean(this.leader);
    for (const [name, Kind] of Object.entries(this.kinds)) this.views[name] = new Kind(this);
    Object.assign(this, this.views);
    if (this.seated) this.timeline.seat(this.player);
    this.keys = new Keys(this.find(".pl-help"), {
      " ": () => this.player.toggle(),
      arrowleft: () => this.player.step(-1),
      arrowright: () => this.player.step(1),
      home: () => this.player.seek(0),
      h: () => this.send("host"),
      c: () => this.send("cache"),
      u: () => this.send("undo"),
      p: () => this.command("critical"),
    });
    pages.add(this);
  }

  // Calls act(view, name) for every view, in their order.
  each(act) {
    for (const [name, view] of Object.entries(this.views)) act(view, name);
  }

  // Draws the moment `time` in every view; `flow` is microseconds per second of watching.
  draw(time, flow) {
    this.each((view) => view.draw(time, flow));
  }

  // Listens to the model until the page closes.
  on(name, act) {
    this.model.on(name, act);
    this.closers.push(() => this.model.off(name, act));
  }

  listen() {
    this.on("change:data", () => this.applyData());
    this.on("change:curves", () => this.curves.show());
    // with a new scenario, what answers the switch is painted first; its curves follow in any case
    this.on("change:measured", () => this.root.dataset.painted === String(this.applied) && this.curves.show());
    this.on("change:status", () => this.applyStatus());
    this.on("msg:custom", (message) => {
      this.each((view) => view.hear(message));
      if (message.kind === "reset") this.player.choose(1);
    });
    this.find(".pl-cancel").addEventListener("click", () => this.send("cancel"));
    this.keyboard.addEventListener("keydown", (event) => this.onKey(event));
    const seen = new IntersectionObserver((entries) => (this.player.visible = entries.at(-1).isIntersecting));
    if (!this.leader) seen.observe(this.watched);
    const sized = new ResizeObserver(() => this.resize());
    sized.observe(this.find(".pl-scene"));
    // The panel of settings opens below the cards: what a setting changes is seen in them.
    const headed = new ResizeObserver(([{ target }]) => {
      const high = target.getBoundingClientRect().bottom - this.root.getBoundingClientRect().top;
      this.root.closest(".pl-explorer")?.style.setProperty("--pl-headed", `${Math.round(high)}px`);
    });
    headed.observe(this.find(".pl-cards"));
    addEventListener("resize", () => this.resize(), { signal: this.over.signal }); // only its height may change
    markRest(this.root, this.over.signal);
    this.closers.push(...[seen, sized, headed].map((observer) => () => observer.disconnect()));
  }

  onKey(event) {
    this.keys.press(event);
  }

  send(command, value) {
    this.player.rest();
    this.model.send({ kind: "command", command, value });
  }

  command(command) {
    if (command === "help") this.keys.toggle();
    if (command === "critical") this.timeline.togglePath();
  }

  applyData() {
    const data = this.model.get("data");
    if (!data.meta) return;
    this.apply(data);
  }

  apply(data) {
    this.data = data;
    if (this.resized) this.fit(); // a resize that was not heard of yet: this size counts as painted below
    this.each((view, name) => view.apply(data.views[name], data));
    const { meta } = data;
    this.player.load(this, { length: meta.end_us, pace: this.pace(), key: meta.key, events: this.scene.moves });
    this.scene.describe();
    this.applied = meta.number;
    this.finished = this.finish(meta.number);
  }

  // What answers a switch is painted first; the rest follows when that is on the screen.
  async finish(number) {
    await painted();
    this.root.dataset.painted = String(number);
    await turn();
    if (this.applied !== number || !this.root.isConnected) return;
    this.player.resting = 0;
    this.each((view) => view.follow());
  }

  // So fast that about 14 slices a second pass and the eye can follow one, but never slower than a run in ten minutes.
  pace() {
    const { moves } = this.scene, { meta } = this.data;
    const passes = moves.total / Math.max(1, Object.keys(this.scene.ways).length) / meta.drawn / meta.recorded;
    return meta.end_us / Math.min(600, Math.max(8, passes / 14));
  }

  // Bandwidths are shown in another unit, or for a device instead of a node.
  rescale() {
    if (this.data) this.curves.show();
  }

  applyStatus() {
    const status = this.model.get("status"), bar = this.find(".pl-status");
    bar.hidden = !status.busy;
    this.root.classList.toggle("pl-stale", Boolean(status.busy));
    bar.querySelector("span").textContent = status.text ?? "";
  }

  // Sets how large words are in this window: those of a data path without room are as large as can be read, and it has names only.
  fit() {
    if (!this.scene.fold()) return; // hidden, as while JupyterLab changes its theme: nobody says when it has a width again
    const { clientWidth: across, clientHeight: down } = this.find(".pl-scene"), { width, height } = this.scene.units, sparse = across < SPARSE;
    const before = this.root.hasAttribute("data-roomy");
    const wish = this.timeline.measure();
    let zoom = this.enlarge(wish);
    if (this.timeline.room || before) zoom = this.enlarge(this.timeline.measure()); // larger words have taken some of the room
    if (zoom < wish) {
      this.enlarge(LARGER); // too much of it
      this.root.toggleAttribute("data-roomy", true);
      zoom = this.enlarge(this.timeline.measure(LARGER));
    }
    this.figures.setZoom(zoom, sparse ? Math.min((1.5 * across) / width, (1.15 * down) / height) : this.timeline.room ? zoom * WORDS_OF_SCENE : undefined, sparse);
  }

  // Shows the words around the figures so many times as large.
  enlarge(zoom) {
    for (const holder of [this.root, this.root.closest(".pl-explorer")]) holder?.style.setProperty("--pl-zoom", zoom.toFixed(2));
    this.root.toggleAttribute("data-roomy", Boolean(this.timeline.room));
    return zoom;
  }

  setTheme() {
    this.fit();
    const theme = this.dark() ? "dark" : "light";
    this.root.dataset.theme = theme;
    for (const [role, colour] of Object.entries(this.figures.palettes[theme])) this.root.style.setProperty(`--pl-${role}`, colour);
    this.figures.setTheme(theme);
    this.repaint();
  }

  // Whether the data path has another size than it was painted for.
  get resized() {
    return this.scene.size !== this.scene.room();
  }

  resize() {
    if (!this.resized) return;
    cancelAnimationFrame(this.resizing);
    this.resizing = requestAnimationFrame(() => this.repaint());
  }

  repaint() {
    if (!this.data) return;
    this.fit();
    this.each((view) => view.paint());
    this.player.draw();
  }

  // A notebook keeps the elements and the model of a view that it has closed; so nothing of the page may hang on them.
  close() {
    this.over.abort();
    for (const close of this.closers) close();
    cancelAnimationFrame(this.resizing);
    this.each((view) => view.close());
    if (!this.leader) this.player?.close();
    this.figures?.close();
    pages.delete(this);
    this.root.remove();
  }
}

// Open pages, for the browser's console and for tests.
const pages = (window.peerlabPages ??= new Set());
