// The headline: figures as text, beside what they were before the last change, or are in the first of two scenarios.
import { make } from "./dom.js";
import { View } from "./view.js";
import { digits } from "./words.js";

/**
 * @typedef {object} HeadlineParcel What the headline gets for a run
 * @property {Card[]} cards
 */
/**
 * @typedef {object} Card One figure
 * @property {string} name
 * @property {string} label
 * @property {string} value
 * @property {string} note
 * @property {string} word
 * @property {number | null} [amount]
 * @property {string} [more]
 * @property {boolean} [always]
 */
export class Headline extends View {
  static place = ["beforebegin", ".pl-player"];
  static html = `<div class="pl-cards" role="group" aria-label="Figures of this scenario"></div>`;

  constructor(page) {
    super(page);
    this.host = page.find(".pl-cards");
    this.scale = page.scale;
  }

  makeRoom(part, data) {
    this.apply(part, data);
  }

  apply({ cards }, data) {
    this.cards = cards;
    this.before = data.before ?? [];
    this.then = data.then ?? "was";
    this.meta = data.meta;
    this.show();
  }

  show() {
    const { scale, meta } = this;
    scale.factor = (scale.bits ? 8 : 1) / (scale.device ? meta.devices : 1);
    scale.unit = scale.bits ? "Gb/s" : "GB/s";
    this.host.replaceChildren(...this.cards.map((card) => this.card(card)));
  }

  card(card) {
    const box = make("div", "pl-card"), bandwidth = card.name === "busbw", { was, ratio, verdict } = this.difference(card);
    box.dataset.name = card.name;
    const label = make("div", "pl-label");
    label.append(make("span", "", card.label));
    const value = make("div", "pl-value", bandwidth ? this.rate(card.amount) : card.value);
    const shared = bandwidth && this.scale.device ? `, per device (1/${this.meta.devices})` : "";
    const note = make("div", "pl-note", card.note + shared);
    box.append(label, value, note);
    if (ratio) value.append(make("span", `pl-ratio pl-${verdict}`, ratio));
    if (was) box.append(make("div", `pl-was pl-${verdict}`, was));
    if (bandwidth) this.addUnits(label);
    return box;
  }

  // What a figure was, how many times that a bandwidth is now, and whether the change is for the better.
  difference(card) {
    const then = this.before.find((one) => one.name === card.name);
    if (!then?.word || !card.word || (then.word === card.word && !card.always)) return { was: "", ratio: "", verdict: "same" };
    const gain = card.amount / then.amount, more = gain > 1.005, less = gain < 0.995; // 2/0 is more, 0/0 neither
    const better = card.more === "better" ? more : less, worse = card.more === "better" ? less : more;
    return {
      was: `${this.then} ${card.name === "busbw" ? this.rate(then.amount) : then.word}`,
      ratio: card.name === "busbw" && gain > 0.01 && gain < 100 ? `${gain.toFixed(2)}x` : "",
      verdict: card.more && better ? "better" : card.more && worse ? "worse" : "same",
    };
  }

  rate(GBps) {
    return GBps === null ? "none" : `${digits(GBps * this.scale.factor)} ${this.scale.unit}`;
  }

  addUnits(label) {
    const add = (unit, text, title, act) => {
      const button = make("button", "pl-unit-button", text);
      button.type = "button";
      button.title = title;
      button.dataset.unit = unit;
      button.setAttribute("aria-label", title);
      button.addEventListener("click", () => {
        act();
        this.show();
        this.page.rescale();
        this.host.querySelector(`[data-unit=${unit}]`)?.focus(); // all cards are new
      });
      label.append(button);
    };
    add("bits", this.scale.bits ? "GB" : "Gb", this.scale.bits ? "Show gigabytes per second" : "Show gigabits per second", () => (this.scale.bits = !this.scale.bits));
    if (this.meta.devices > 1)
      add("device", this.scale.device ? "node" : "device", this.scale.device ? "Show per node" : "Show per device", () => (this.scale.device = !this.scale.device));
  }
}
