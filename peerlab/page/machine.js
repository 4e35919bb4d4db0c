// The curves in the lab: beside what is simulated, what was measured on this machine, and the buttons that measure it.
import { Curves } from "./curves.js";

const MACHINE_TAB = `<button type="button" class="pl-tab" data-axis="here" aria-pressed="false">this machine</button>`;
const MACHINE_BAR = `
<div class="pl-here" hidden><button type="button" class="pl-action"></button><button type="button" class="pl-action pl-gpu">GPU memory</button>
  <button type="button" class="pl-action pl-save">Save as CSV</button>
  <span role="status" aria-live="polite"></span></div>`;

export class MachineCurves extends Curves {
  constructor(page) {
    super(page);
    this.find(".pl-save").addEventListener("click", () => page.send("save measured"));
    this.find(".pl-gpu").addEventListener("click", () => page.send("measure gpu"));
    this.find(".pl-here .pl-action").addEventListener("click", () => page.send(this.measurement.busy ? "stop measuring" : "measure"));
  }

  static get html() {
    return super.html.replace("</button></span>", `</button>${MACHINE_TAB}</span>`).replace(`<div class="pl-bands">`, `${MACHINE_BAR}$&`);
  }

  get measurement() {
    return this.page.model.get("measured").here;
  }

  // What was measured on this machine is no curve of a scenario, and waits for no answer.
  choose(axis) {
    this.onMachine = axis === "here";
    if (!this.onMachine) super.choose(axis);
    this.show();
  }

  show() {
    if (!this.meta) return;
    if (this.onMachine) this.showLines(this.measurement.curves, { factor: 1 }, "Speed, staged = 1");
    else super.show();
    this.showBar(this.measurement);
  }

  showBar(measurement) {
    const bar = this.find(".pl-here"), empty = !measurement.curves.values.length;
    bar.hidden = !this.onMachine;
    this.find(".pl-figure").classList.toggle("pl-blank", Boolean(this.onMachine) && empty);
    if (!this.onMachine) return;
    bar.classList.toggle("pl-empty", empty);
    bar.querySelector(".pl-action").textContent = measurement.action;
    bar.querySelector("span").textContent = measurement.text;
    bar.querySelector(".pl-gpu").hidden = measurement.busy;
    bar.querySelector(".pl-save").hidden = empty || measurement.busy || !measurement.mine;
    bar.title = measurement.about;
  }
}
