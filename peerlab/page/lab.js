// The page in the lab: a view of a widget, with a kernel behind it and the notebook's controls above it.
import { showAfterRun } from "./after_run.js";
import { darkBehind } from "./behind.js";
import { loadBokeh, whenGone } from "./kernel.js";
import { MachineCurves } from "./machine.js";
import { Page } from "./page.js";

class LabPage extends Page {
  constructor(model, el) {
    super(model, el);
    this.root.dataset.lmSuppressShortcuts = "true"; // JupyterLab's own shortcuts rest while this has the focus
  }

  get kinds() {
    return { ...super.kinds, curves: MachineCurves };
  }

  async ready(say, signal) {
    const late = setTimeout(() => say("Waiting for the kernel. In a notebook that was saved and opened again, choose Run ▸ Run All Cells to see the figures."), 4000);
    this.closers.push(() => clearTimeout(late));
    await attached(this.root, signal);
    showAfterRun(this.root, this.over.signal); // nobody waits for it
    whenGone(this.model, () => this.loseKernel(), this.over.signal);
    this.model.send({ kind: "seen" }); // what this cell showed before can go
    await loadBokeh(this.model, signal);
    clearTimeout(late);
  }

  listen() {
    super.listen();
    const hear = (message, buffers) => message.kind === "ahead" && (this.ahead = attach(message.parcels, buffers));
    this.model.on("msg:custom", hear);
    const rest = (event) => !this.root.contains(event.target) && this.player.rest(), explorer = this.root.closest(".pl-explorer");
    const { signal } = this.over;
    for (const kind of ["click", "change"]) explorer?.addEventListener(kind, rest, { capture: true, signal });
    // after the widget's own listener, so that Python is asked all the same
    const ask = ({ target }) => ["host", "cache"].forEach((name) => target.closest(`.pl-${name}`) && this.foresee(name));
    explorer?.addEventListener("change", ask, { signal });
    explorer?.addEventListener("keydown", (event) => event.key === "Escape" && this.closePanel(explorer, event), { capture: true, signal }); // a text field of ipywidgets keeps its keys to itself
    const left = ({ data, source }) => data?.peerlab === "left" && [...(explorer?.querySelectorAll("iframe") ?? [])].some((one) => one.contentWindow === source);
    addEventListener("message", (event) => left(event) && this.closePanel(explorer, event), { signal });
    const themed = new MutationObserver(() => this.setTheme());
    themed.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "class"] });
    this.closers.push(() => this.model.off("msg:custom", hear), () => themed.disconnect());
  }

  // Closes the panel that is open; its button has the focus then, or that of the panel in which its button is.
  closePanel(explorer, event) {
    const seen = (what) => [...explorer.querySelectorAll(what)].find((one) => one.offsetParent);
    const button = seen(".pl-controls .mod-active.pl-plain, .pl-machine-close.mod-active") ?? seen(".pl-plain.pl-back");
    if (!button || explorer.querySelector("dialog[open]")) return;
    event.preventDefault();
    event.stopPropagation();
    button.click();
    (button.matches(".pl-back") ? seen(".pl-more-button") : button)?.focus();
  }

  // JupyterLab says which theme it has. Elsewhere it is what lies behind the picture: some versions of VS Code paint widgets white in a dark window.
  dark() {
    const { body } = document, light = body.dataset.jpThemeLight;
    return light === undefined ? darkBehind(this.root) ?? body.classList.contains("vscode-dark") : light === "false";
  }

  send(command, value) {
    if (this.gone) return;
    super.send(command, value);
    this.foresee(command);
  }

  // What the browser does by itself goes on: the player, the timeline, units. All that asks the kernel rests.
  loseKernel() {
    this.gone = true;
    this.applyStatus();
    for (const row of this.root.closest(".pl-explorer")?.querySelectorAll(".pl-controls") ?? []) row.inert = true;
    for (const button of this.root.querySelectorAll(".pl-critical, .pl-tab, .pl-action")) button.disabled = true;
    const curves = this.model.get("curves");
    if ((curves.state ?? "whole") !== "whole") this.model.set("curves", { ...curves, state: "whole" }); // they come no more
  }

  applyStatus() {
    if (!this.gone) return super.applyStatus();
    const bar = this.find(".pl-status");
    bar.hidden = false;
    bar.classList.add("pl-gone");
    const app = !document.querySelector(".jp-CodeCell .jp-InputArea"); // as in Voila: no cell to run
    bar.querySelector("span").textContent = `The kernel has gone; ${app ? "reload the page" : "run the cell again"}.`;
    this.root.classList.remove("pl-stale");
  }

  // Shows what Python has said that a switch would show; Python's answer follows, and counts.
  foresee(name) {
    const parcel = this.ahead?.[name];
    if (parcel?.meta.number === this.applied + 1) this.apply(parcel);
  }

  applyData() {
    const data = this.model.get("data"), foreseen = data.meta?.number === this.applied && data.meta.code === this.data.meta.code;
    if (!foreseen) super.applyData();
  }

  makeRoom(data) {
    super.makeRoom(data);
    this.nameControls();
  }

  async finish(number) {
    await super.finish(number);
    this.nameControls();
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
    name(".pl-more-search input", "Find a setting");
    for (const box of explorer?.querySelectorAll(":is(.pl-switch, .pl-segments) input") ?? []) box.setAttribute("role", "switch");
  }
}

// Puts binary parts back where Python took them out.
function attach(value, buffers) {
  if (value === null || typeof value !== "object") return value;
  if ("buffer" in value) return buffers[value.buffer];
  if (Array.isArray(value)) return value.map((one) => attach(one, buffers));
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, attach(one, buffers)]));
}

async function attached(element, signal) {
  while (!element.isConnected && !signal?.aborted) await new Promise((resolve) => setTimeout(resolve, 10));
}

// JupyterLab keeps the model of a widget that was closed, with all that it holds; so that is let go here.
export function initialize({ model }) {
  return () => {
    for (const name of ["_esm", "document", "data", "curves"]) model.set(name, ""); // one by one: the last value stays
  };
}

export async function render({ model, el, signal }) {
  const page = new LabPage(model, el), aborter = new AbortController();
  signal?.addEventListener("abort", () => aborter.abort());
  page.start(aborter.signal).catch((problem) => {
    if (!aborter.signal.aborted) page.find(".pl-scene").textContent = `The figures could not be shown: ${problem.message}`;
  });
  return () => {
    aborter.abort();
    page.close();
  };
}
