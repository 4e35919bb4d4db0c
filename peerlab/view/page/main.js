// One view of the explorer: builds the page, listens to Python's data, owns the clock, cleans up.
const KEYS = [
  ["space", "play or pause"],
  ["← →", "step to the event before or after"],
  ["Home", "back to the beginning"],
  ["H", "host bottleneck on or off"],
  ["C", "registration cache on or off"],
  ["P", "light the critical path"],
  ["U", "undo"],
  ["Shift + wheel", "zoom into the timeline; drag to move it"],
  ["double click", "in the timeline: go to that moment"],
  ["?", "show or hide these keys"],
];

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
        type="button" class="pl-tab" data-axis="message_bytes" aria-pressed="false">size</button><button
        type="button" class="pl-tab" data-axis="here" aria-pressed="false">this machine</button></span></header>
    <div class="pl-figure" role="img" aria-label="Bus bandwidth of every path"></div>
    <div class="pl-here" hidden><button type="button" class="pl-action"></button><button type="button" class="pl-action pl-save">Save as CSV</button>
      <span role="status" aria-live="polite"></span></div>
    <div class="pl-bands"></div>
  </section>
</div>
<footer class="pl-footer"><div class="pl-key" aria-label="Colours"></div><div class="pl-caption"></div></footer>
<dialog class="pl-help" aria-label="Keys"></dialog>`;

class Page {
  constructor(model, el) {
    this.model = model;
    this.root = make("div", "pl-root");
    this.root.tabIndex = 0;
    this.root.setAttribute("role", "region");
    this.root.setAttribute("aria-label", "Data path explorer. Press ? for keys.");
    this.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own shortcuts rest while this has the focus
    this.root.innerHTML = LAYOUT;
    el.appendChild(this.root);
    this.applied = 0;
    this.closers = [];
  }

  find(selector) {
    return this.root.querySelector(selector);
  }

  async start(signal) {
    const say = (text) => (this.find(".pl-scene").textContent = text);
    say("Loading the figures ...");
    const late = setTimeout(() => say("Waiting for the kernel. In a notebook that was saved and opened again, choose Run ▸ Run All Cells to see the figures."), 4000);
    this.closers.push(() => clearTimeout(late));
    await attached(this.root, signal);
    await loadBokeh(this.model, signal);
    clearTimeout(late);
    if (signal?.aborted) return;
    say("");
    const places = { scene: this.find(".pl-scene"), timeline: this.find(".pl-timeline .pl-figure"), curves: this.find(".pl-curves .pl-figure") };
    this.figures = await Figures.embed(this.model.get("document"), places, this.model.get("palettes"));
    if (signal?.aborted) return this.figures.close();
    this.build();
    this.setTheme();
    this.listen();
    this.applyData();
    this.applyStatus();
  }

  build() {
    const { figures } = this;
    this.scene = new Scene(figures, this.find(".pl-scene"));
    this.timeline = new Timeline(figures, this.find(".pl-timeline"), { onSeek: (time) => this.player.seek(time) });
    this.curves = new Curves(figures, this.find(".pl-curves"));
    this.headline = new Headline(this.find(".pl-cards"), { onScale: () => this.applyCurves() });
    this.player = new Player(this.find(".pl-player"), {
      onDraw: (time, flow) => {
        this.scene.draw(time, flow);
        this.timeline.moveCursor(time);
      },
      onCommand: (command) => this.command(command),
    });
    this.buildHelp();
    pages.add(this);
  }

  buildHelp() {
    const list = make("dl", "pl-keys");
    for (const [key, what] of KEYS) list.append(make("dt", "", key), make("dd", "", what));
    const close = make("button", "pl-button", "Close");
    close.addEventListener("click", () => this.find(".pl-help").close());
    this.find(".pl-help").replaceChildren(make("h3", "", "Keys"), list, close);
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
    on("msg:custom", (message, buffers) => {
      if (message.kind === "critical") this.showPath(message.path);
      if (message.kind === "ahead") this.ahead = attach(message.parcels, buffers);
    });
    this.find(".pl-cancel").addEventListener("click", () => this.send("cancel"));
    this.find(".pl-critical").addEventListener("click", () => this.command("critical"));
    this.find(".pl-whole").addEventListener("click", () => this.timeline.range.setv({ start: 0, end: this.timeline.range.reset_end }));
    for (const tab of this.root.querySelectorAll(".pl-tab")) tab.addEventListener("click", () => this.chooseAxis(tab.dataset.axis));
    this.find(".pl-save").addEventListener("click", () => this.send("save measured"));
    this.find(".pl-here .pl-action").addEventListener("click", () => this.send(this.model.get("measured").here.busy ? "stop measuring" : "measure"));
    this.root.addEventListener("keydown", (event) => this.onKey(event));
    const rest = (event) => !this.root.contains(event.target) && this.player.rest(), explorer = this.root.closest(".pl-explorer");
    for (const kind of ["click", "change"]) explorer?.addEventListener(kind, rest, true);
    // after the widget's own listener, so that Python is asked all the same
    explorer?.addEventListener("change", ({ target }) => ["host", "cache"].forEach((name) => target.closest(`.pl-${name}`) && this.foresee(name)));
    const seen = new IntersectionObserver((entries) => (this.player.visible = entries.at(-1).isIntersecting));
    seen.observe(this.find(".pl-scene"));
    const themed = new MutationObserver(() => this.setTheme());
    themed.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    const sized = new ResizeObserver(() => this.resize());
    sized.observe(this.find(".pl-scene"));
    this.closers.push(() => seen.disconnect(), () => themed.disconnect(), () => sized.disconnect());
  }

  // The stock slider and text fields have no accessible names; give them some.
  nameControls() {
    const explorer = this.root.closest(".pl-explorer");
    const name = (selector, label, value) => {
      const element = explorer?.querySelector(selector);
      element?.setAttribute("aria-label", label);
      if (element && value) element.setAttribute("aria-valuetext", value);
    };
    const read = (selector) => explorer?.querySelector(selector)?.value;
    name(".pl-nodes .noUi-handle", "Nodes", `${read(".pl-nodes-text input")} nodes`);
    name(".pl-size .noUi-handle", "Message size", read(".pl-size-text input"));
    name(".pl-nodes-text input", "Nodes, as a number");
    name(".pl-size-text input", "Message size, as text");
    name(".pl-file input", "Cluster file");
    for (const box of explorer?.querySelectorAll(".pl-switch input") ?? []) box.setAttribute("role", "switch");
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const key = event.key.toLowerCase(), target = event.target;
    const typing = target.matches("select, input:not([type=range])") || (target.matches("button") && (key === " " || key === "enter"));
    if (typing || this.find(".pl-help").open) return;
    const acts = {
      " ": () => this.player.toggle(),
      arrowleft: () => this.player.step(-1),
      arrowright: () => this.player.step(1),
      home: () => this.player.seek(0),
      "?": () => this.command("help"),
      h: () => this.press("host"),
      c: () => this.press("cache"),
      u: () => this.send("undo"),
      p: () => this.command("critical"),
    };
    if (!acts[key]) return;
    event.preventDefault();
    event.stopPropagation();
    acts[key]();
  }

  press(name) {
    this.send(name);
    this.foresee(name);
  }

  send(command, value) {
    this.player.rest();
    this.model.send({ kind: "command", command, value });
  }

  command(command) {
    if (command === "help") {
      const help = this.find(".pl-help");
      if (help.open) help.close();
      else help.showModal();
    }
    if (command === "critical") {
      const lit = this.find(".pl-critical").getAttribute("aria-pressed") === "true";
      if (lit) this.showPath(null);
      else this.send("critical");
    }
  }

  // Shows what Python has said that a switch would show; Python's answer follows, and counts.
  foresee(name) {
    const parcel = this.ahead?.[name];
    if (parcel?.meta.number === this.applied + 1) this.apply(parcel);
  }

  applyData() {
    const data = this.model.get("data");
    if (!data.meta) return;
    const foreseen = data.meta.number === this.applied && data.meta.code === this.data.meta.code;
    if (!foreseen) this.apply(data);
  }

  apply(data) {
    this.data = data;
    this.headline.apply(data);
    this.scene.apply(data);
    this.timeline.apply(data, data.meta.before_us);
    this.showPath(null);
    this.showSaved();
    const { meta } = data;
    this.player.load({ length: meta.end_us, pace: this.pace(), key: meta.key, events: this.scene.moves });
    this.find(".pl-scene").setAttribute("aria-label", meta.words);
    this.applied = meta.number;
    this.finish(meta.number);
  }

  // What answers a switch is painted first; the rest follows when that is on the screen.
  async finish(number) {
    await painted();
    this.root.dataset.painted = String(number);
    if (this.applied !== number || !this.root.isConnected) return;
    this.player.resting = 0;
    this.applyCurves();
    this.showKey();
    this.nameControls();
  }

  // So fast that about 14 slices a second pass and the eye can follow one, but never slower than a run in ten minutes.
  pace() {
    const { moves } = this.scene, { meta } = this.data;
    const passes = moves.total / Math.max(1, Object.keys(this.scene.ways).length) / meta.drawn / meta.recorded;
    return meta.end_us / Math.min(600, Math.max(8, passes / 14));
  }

  // What was measured on this machine is no curve of a scenario, and waits for no answer.
  chooseAxis(axis) {
    this.here = axis === "here";
    if (!this.here) this.send("axis", axis);
    this.applyCurves();
  }

  applyCurves() {
    if (!this.data) return;
    const measured = this.model.get("measured"), { meta } = this.data, { scale } = this.headline;
    const curves = this.here ? measured.here.curves : this.model.get("curves");
    this.find(".pl-busbw").textContent = this.here ? "Speed, staged = 1" : `Bus bandwidth, ${scale.unit}${scale.device ? " per device" : ""}`;
    const axis = this.here ? "here" : curves.axis ?? "nodes";
    for (const tab of this.root.querySelectorAll(".pl-tab")) tab.setAttribute("aria-pressed", String(tab.dataset.axis === axis));
    this.find(".pl-curves").classList.toggle("pl-old", Boolean(curves.old));
    this.showHere(measured.here);
    this.curves.apply(curves, measured, meta.mark, meta.ghost, this.here ? { factor: 1 } : scale);
  }

  showHere(here) {
    const bar = this.find(".pl-here");
    bar.hidden = !this.here;
    this.find(".pl-curves .pl-figure").classList.remove("pl-blank");
    if (!this.here) return;
    const empty = !here.curves.values.length;
    bar.classList.toggle("pl-empty", empty);
    this.find(".pl-curves .pl-figure").classList.toggle("pl-blank", empty);
    bar.querySelector(".pl-action").textContent = here.action;
    bar.querySelector("span").textContent = here.text;
    bar.querySelector(".pl-save").hidden = empty || here.busy;
    bar.title = here.about;
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
    const { body } = document, light = body.dataset.jpThemeLight;
    const dark = light === undefined ? body.classList.contains("vscode-dark") : light === "false";
    const theme = dark ? "dark" : "light";
    this.root.dataset.theme = theme;
    for (const [role, colour] of Object.entries(this.figures.palettes[theme])) this.root.style.setProperty(`--pl-${role}`, colour);
    this.figures.setTheme(theme);
    this.repaint();
  }

  resize() {
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

  close() {
    for (const close of this.closers) close();
    cancelAnimationFrame(this.resizing);
    this.timeline?.close();
    this.player?.close();
    this.figures?.close();
    pages.delete(this);
    this.root.remove();
  }
}

// Puts binary parts back where Python took them out.
function attach(value, buffers) {
  if (value === null || typeof value !== "object") return value;
  if ("buffer" in value) return buffers[value.buffer];
  if (Array.isArray(value)) return value.map((one) => attach(one, buffers));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, attach(one, buffers)]));
}

// Open views, for the browser's console and for tests.
const pages = (window.peerlabPages ??= new Set());

async function attached(element, signal) {
  while (!element.isConnected && !signal?.aborted) await new Promise((resolve) => setTimeout(resolve, 10));
}

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

async function render({ model, el, signal }) {
  const page = new Page(model, el), aborter = new AbortController();
  signal?.addEventListener("abort", () => aborter.abort());
  page.start(aborter.signal).catch((problem) => {
    if (!aborter.signal.aborted) page.find(".pl-scene").textContent = `The figures could not be shown: ${problem.message}`;
  });
  return () => {
    aborter.abort();
    page.close();
  };
}

export default { render };
