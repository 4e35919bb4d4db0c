// One view of a scenario: builds the page, listens to its model, owns the clock, cleans up. In the lab the model is
// anywidget's, with a kernel behind it (lab.js); in an exported page it is an album of states (album.js).
const LAYOUT = `
<div class="pl-status" role="status" aria-live="polite" hidden><span></span><button type="button" class="pl-button pl-cancel">Cancel</button></div>
<div class="pl-cards" role="group" aria-label="Figures of this scenario"></div>
<div class="pl-scene" role="img" aria-label="Data path"></div>
<div class="pl-player" role="group" aria-label="Player"></div>
<div class="pl-lower">
  <section class="pl-timeline" aria-label="Timeline">
    <header><h3><span class="pl-title">Timeline</span> <small>in <span class="pl-unit">ms</span></small></h3><span class="pl-merged"></span><span class="pl-saved"></span>
      <button type="button" class="pl-link pl-critical" aria-pressed="false">Critical path</button>
      <button type="button" class="pl-link pl-whole">Whole run</button></header>
    <div class="pl-path" hidden></div>
    <div class="pl-figure" role="img" aria-label="Spans of every resource over time"><div class="pl-cursor"></div></div>
  </section>
  <section class="pl-curves" aria-label="Curves">
    <header><h3 class="pl-busbw">Bus bandwidth, GB/s</h3>
      <span role="group" aria-label="Against"><button type="button" class="pl-tab" data-axis="nodes" aria-pressed="true">nodes</button><button
        type="button" class="pl-tab" data-axis="message_bytes" aria-pressed="false">size</button></span></header>
    <div class="pl-figure" role="img" aria-label="Bus bandwidth of every path"></div>
    <div class="pl-bands"></div>
  </section>
</div>
<footer class="pl-footer"><div class="pl-key" aria-label="Colours"></div><div class="pl-caption"></div></footer>
<dialog class="pl-help" aria-label="Keys"></dialog>`;

class Page {
  // With a `leader`, another page, both have its clock and its player.
  constructor(model, el, leader = null) {
    this.model = model;
    this.leader = leader;
    this.root = make("div", "pl-root");
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "Data path explorer. Press ? for keys.");
    this.root.innerHTML = LAYOUT;
    el.appendChild(this.root);
    this.applied = 0;
    this.over = new AbortController(); // whoever listens outside of this page listens until it closes
    this.closers = [];
    this.keyboard = this.root;
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
    say("Loading the figures ...");
    await this.ready(say, signal);
    if (signal?.aborted) return;
    say("");
    const places = { scene: this.find(".pl-scene"), timeline: this.find(".pl-timeline .pl-figure"), curves: this.find(".pl-curves .pl-figure") };
    this.figures = await Figures.embed(this.model.get("document"), places, this.model.get("palettes"));
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
    if (!data.meta) return;
    this.data = data;
    this.headline.apply(data);
    this.showKey();
    this.data = undefined;
  }

  // Resolves when there is something to draw on, and with: a place in the page, and BokehJS.
  async ready() {}

  build() {
    const { figures } = this;
    this.scene = new Scene(figures, this.find(".pl-scene"));
    this.timeline = new Timeline(figures, this.find(".pl-timeline"), { onSeek: (time) => this.player.seek(time) });
    this.curves = new Curves(figures, this.find(".pl-curves"));
    this.headline = new Headline(this.find(".pl-cards"), { onScale: () => this.applyCurves() });
    this.player = this.leader?.player ?? new Player(this.find(".pl-player"), { onCommand: (command) => this.command(command) });
    this.find(".pl-player").hidden = Boolean(this.leader);
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

  // Draws the moment `time` in every view; `flow` is microseconds per second of watching.
  draw(time, flow) {
    this.scene.draw(time, flow);
    this.timeline.moveCursor(time);
  }

  listen() {
    const { model } = this;
    const on = (name, act) => {
      model.on(name, act);
      this.closers.push(() => model.off(name, act));
    };
    on("change:data", () => this.applyData());
    on("change:curves", () => this.applyCurves());
    // with a new scenario, what answers the switch is painted first; its curves follow in any case
    on("change:measured", () => this.root.dataset.painted === String(this.applied) && this.applyCurves());
    on("change:status", () => this.applyStatus());
    on("msg:custom", (message) => {
      if (message.kind === "critical") this.showPath(message.path);
      if (message.kind === "reset") this.player.choose(1);
    });
    this.find(".pl-cancel").addEventListener("click", () => this.send("cancel"));
    this.find(".pl-critical").addEventListener("click", () => this.command("critical"));
    this.find(".pl-whole").addEventListener("click", () => this.timeline.range.setv({ start: 0, end: this.timeline.range.reset_end }));
    for (const tab of this.root.querySelectorAll(".pl-tab")) tab.addEventListener("click", () => this.chooseAxis(tab.dataset.axis));
    this.keyboard.addEventListener("keydown", (event) => this.onKey(event));
    const seen = new IntersectionObserver((entries) => (this.player.visible = entries.at(-1).isIntersecting));
    if (!this.leader) seen.observe(this.watched);
    const sized = new ResizeObserver(() => this.resize());
    sized.observe(this.find(".pl-scene"));
    this.closers.push(() => seen.disconnect(), () => sized.disconnect());
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
    if (command === "critical") {
      const lit = this.find(".pl-critical").getAttribute("aria-pressed") === "true";
      if (lit) this.showPath(null);
      else this.send("critical");
    }
  }

  applyData() {
    const data = this.model.get("data");
    if (!data.meta) return;
    this.apply(data);
  }

  apply(data) {
    this.data = data;
    this.headline.apply(data);
    this.scene.apply(data);
    this.timeline.apply(data, data.meta.span_us ?? data.meta.before_us);
    this.showPath(null);
    this.showSaved();
    const { meta } = data;
    this.player.load(this, { length: meta.end_us, pace: this.pace(), key: meta.key, events: this.scene.moves });
    this.find(".pl-scene").setAttribute("aria-label", meta.words);
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
    this.applyCurves();
    this.showKey();
  }

  // So fast that about 14 slices a second pass and the eye can follow one, but never slower than a run in ten minutes.
  pace() {
    const { moves } = this.scene, { meta } = this.data;
    const passes = moves.total / Math.max(1, Object.keys(this.scene.ways).length) / meta.drawn / meta.recorded;
    return meta.end_us / Math.min(600, Math.max(8, passes / 14));
  }

  chooseAxis(axis) {
    this.send("axis", axis);
  }

  applyCurves() {
    if (this.data) this.showCurves(this.model.get("curves"), this.headline.scale);
  }

  showCurves(curves, scale, title = `Bus bandwidth, ${scale.unit}${scale.device ? " per device" : ""}`) {
    this.find(".pl-busbw").textContent = title;
    for (const tab of this.root.querySelectorAll(".pl-tab")) tab.setAttribute("aria-pressed", String(tab.dataset.axis === (curves.axis ?? "nodes")));
    this.find(".pl-curves").classList.toggle("pl-old", Boolean(curves.old));
    this.curves.apply(curves, this.model.get("measured"), this.data.meta.mark, this.data.meta.ghost, scale);
  }

  applyStatus() {
    const status = this.model.get("status"), bar = this.find(".pl-status");
    bar.hidden = !status.busy;
    this.root.classList.toggle("pl-stale", Boolean(status.busy));
    bar.querySelector("span").textContent = status.text ?? "";
  }

  showPath(path) {
    this.find(".pl-critical").setAttribute("aria-pressed", String(Boolean(path)));
    this.timeline.showPath(path);
    const line = this.find(".pl-path");
    line.hidden = !path;
    if (!path) return;
    const total = Object.values(path.breakdown).reduce((a, b) => a + b, 0) || 1;
    const parts = Object.entries(path.breakdown).filter(([, us]) => us / total >= 0.005);
    line.textContent = `On the critical path: ${parts.map(([stage, us]) => `${stage} ${Math.round((us / total) * 100)} %`).join(", ")}`;
  }

  showSaved() {
    const { before_us, end_us } = this.data.meta, saved = this.find(".pl-saved");
    const difference = before_us ? before_us - end_us : 0;
    saved.textContent = Math.abs(difference) > end_us * 0.005 ? `${sayTime(Math.abs(difference))} ${difference > 0 ? "saved" : "more"}` : "";
    saved.className = `pl-saved pl-${difference > 0 ? "better" : "worse"}`;
  }

  showKey() {
    const { key_colours: key, caption, sources, code } = this.data.meta;
    this.find(".pl-key").replaceChildren(
      ...key.map(([role, text]) => {
        const item = make("span", "pl-swatch", text);
        item.style.setProperty("--swatch", this.figures.colour(role));
        return item;
      }),
      ...(this.data.scene.neighbours ? [make("span", "pl-swatch pl-hollow", "hollow: at the neighbours")] : []),
    );
    const details = document.createElement("details"), list = make("ul", "pl-sources");
    details.append(make("summary", "", sources.title));
    for (const line of sources.lines) list.append(make("li", line.assumed ? "pl-assumed" : "", line.text));
    details.append(list);
    const copy = make("button", "pl-link", "Copy as Python");
    copy.type = "button";
    copy.title = code;
    copy.addEventListener("click", async () => {
      await copyText(code);
      copy.textContent = "Copied";
      setTimeout(() => (copy.textContent = "Copy as Python"), 1500);
    });
    const open = this.find(".pl-caption details")?.open;
    details.open = Boolean(open);
    this.find(".pl-caption").replaceChildren(make("span", "", caption), copy, details);
  }

  setTheme() {
    const theme = this.dark() ? "dark" : "light";
    this.root.dataset.theme = theme;
    for (const [role, colour] of Object.entries(this.figures.palettes[theme])) this.root.style.setProperty(`--pl-${role}`, colour);
    this.figures.setTheme(theme);
    this.repaint();
  }

  resize() {
    if (this.scene.size === this.scene.room()) return;
    cancelAnimationFrame(this.resizing);
    this.resizing = requestAnimationFrame(() => this.repaint());
  }

  repaint() {
    if (!this.data) return;
    this.scene.paint();
    this.timeline.paint();
    this.curves.paint();
    this.showKey();
    this.player.draw();
  }

  // A notebook keeps the elements and the model of a view that it has closed; so nothing of the page may hang on them.
  close() {
    this.over.abort();
    for (const close of this.closers) close();
    cancelAnimationFrame(this.resizing);
    this.timeline?.close();
    if (!this.leader) this.player?.close();
    this.figures?.close();
    pages.delete(this);
    this.root.remove();
  }
}

// Open views, for the browser's console and for tests.
const pages = (window.peerlabPages ??= new Set());

async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea"); // without permission, or outside https
    area.value = text;
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
