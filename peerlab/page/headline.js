// The headline: how many times as fast the way past the host is, and the figures beside it, with what they were before the last
// change, or are in the first of two scenarios.
import { make } from "./dom.js";
import { HowSure } from "./how_sure.js";
import { awaitedBar, isSlower, ratioBar } from "./ratio_bar.js";
import { View } from "./view.js";
import { baseline, digits, sayTimes } from "./words.js";

const LEAST_GAIN = 1.05; // without a range: less reads as once as fast
const LONG = 14; // letters of a value that would be wider than its card
const BEFORE = { if: "; this holds ", on: ", ", note: " " }; // a condition, by its kind: what it holds for is the range, not the whole gain
const PREFIXES = [[1, "G"], [1e-3, "M"], [1e-6, "k"]]; // of a bandwidth: how many of the scale's, and the prefix
const FAULTS = ["slow_nodes", "slow_nics", "slow_links"]; // of them a card says in words what was without
const FACTS = ["copies", "dram", "cores", "registration"];

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
 * @property {string} [hint]
 * @property {string} [does]
 * @property {string} [says]
 */
/**
 * @typedef {object} PathRatio The ratio of two data paths' bus bandwidth
 * @property {string[]} of
 * @property {string} slow
 * @property {string} fast
 * @property {number} value
 * @property {number | null} low
 * @property {number | null} high
 * @property {string} range
 * @property {OtherRatio[]} others
 * @property {string} condition
 * @property {string} kind
 * @property {boolean} pending
 * @property {string} says
 * @property {string} sure
 * @property {string[]} times
 * @property {string} without
 */
/**
 * @typedef {object} OtherRatio The ratio if an assumption without a range does not hold
 * @property {string} says
 * @property {number} ratio
 * @property {number} low
 * @property {number} high
 */
export class Headline extends View {
  static place = ["beforebegin", ".pl-player"];
  static html = `<div class="pl-cards" role="group" aria-label="Figures of this scenario"></div>`;

  constructor(page) {
    super(page);
    this.host = page.find(".pl-cards");
    this.scale = page.scale;
    this.sure = new HowSure(page);
    page.on("change:ratio", () => this.cards && this.show());
  }

  makeRoom(part, data) {
    this.apply(part, data);
  }

  apply({ cards }, data) {
    this.cards = cards;
    this.before = data.before ?? [];
    this.then = data.then;
    this.meta = data.meta;
    this.show();
  }

  show() {
    const { scale, meta } = this, named = (name) => this.named(name);
    scale.factor = (scale.bits ? 8 : 1) / (scale.device ? meta.devices : 1);
    scale.unit = scale.bits ? "Gb/s" : "GB/s";
    const facts = make("div", "pl-facts");
    facts.append(...FACTS.map((name) => this.fact(named(name))));
    this.host.replaceChildren(this.hero(named("time")), this.card(named("bottleneck")), this.card(named("busbw")), facts);
  }

  named(name) {
    return this.cards.find((card) => card.name === name);
  }

  // The ratio of two paths, if this scenario is one of them; of others it is another.
  get ratio() {
    const ratio = this.page.model.get("ratio");
    return this.meta.nodes > 1 && ratio?.of?.includes(this.meta.code) ? ratio : null; // one node uses neither
  }

  // The answer: from where to where the ratio lies, and the time of both paths; where there is nothing to compare, the time.
  // On the detour it is a promise, with a dashed edge; past the host it is a fact, filled.
  hero(time) {
    const { ratio } = this, box = make("div", "pl-hero"), times = this.card(time), follows = !ratio && this.meta.nodes > 1 && this.page.model.get("ratio")?.fast;
    box.append(times);
    if (follows) this.awaited(box, times, follows);
    if (!ratio) return box;
    const { value, low } = ratio, { past } = this.meta.mark;
    box.classList.add(past ? "pl-fact-card" : "pl-promise");
    box.classList.toggle("pl-won", low === null ? value >= LEAST_GAIN : low > 1);
    const card = make("div", "pl-card");
    card.dataset.name = "ratio";
    card.append(this.claim(ratio, past), make("div", "pl-value", this.range(ratio)));
    times.replaceChildren(ratioBar(ratio, past)); // one figure leads a card: the others are quiet words at their marks
    box.prepend(card);
    box.append(this.condition(ratio));
    return box;
  }

  // That of another scenario is there, and this one's follows: what stands still has its place already.
  awaited(box, times, fast) {
    const { past } = this.meta.mark, card = make("div", "pl-card pl-awaited");
    card.append(make("div", "pl-label", `${fast} ${past ? "is" : "would be"}`), make("div", "pl-value", "\u00a0"));
    times.replaceChildren(awaitedBar(this.named("time").value, past));
    box.classList.add(past ? "pl-fact-card" : "pl-promise");
    box.prepend(card);
    box.append(make("div", "pl-note pl-range", "computing"));
  }

  // What is said of the faster path above its range, in one quiet line: with the figure and *as fast* below it a sentence. What is slow or lost, its chip and its node say.
  // A range below 1 says that in words, and one on both sides of 1 that the path may be slower.
  claim({ fast, value, low, high }, past) {
    const is = past ? "is" : "would be", slower = isSlower(high ?? value), doubt = isSlower(low ?? value);
    return make("div", "pl-label", `${fast} ${slower ? `${is} only` : doubt ? "may be slower than host:" : is}`);
  }

  // From where to where the ratio lies. Without a range a digit less is shown.
  range({ low, range, value }) {
    if (low === null) return value >= 1 ? `about ${value.toFixed(1)}×` : `about ${sayTimes(value)}`;
    return range;
  }

  // On what the range rests, as a link to the picture of how sure it is.
  condition(ratio) {
    const { slow, condition, kind, says, without } = ratio, note = make("div", "pl-note pl-range", "as fast");
    note.append(make("span", "pl-than", ` as ${slow}`));
    note.title = says;
    if (without) { // the time of what is shown is none of the two below the bar
      note.append(`; this run, with ${without}: `, make("b", "", this.named("time").value));
      return note;
    }
    note.append(BEFORE[kind], this.sure.link(ratio, this.named("busbw").says) || condition);
    return note;
  }

  paint() {
    this.sure.paint();
  }

  fact(card) {
    const row = make("div", "pl-card pl-fact"), { verdict, then } = this.difference(card), value = make("span", "pl-value");
    row.dataset.name = card.name;
    row.title = card.note;
    if (then && card.amount !== undefined) value.append(make("span", "pl-before", `${then} → `));
    value.append(make("b", `pl-${verdict}`, card.value));
    row.append(make("span", "pl-label", card.label), value);
    return row;
  }

  card(card) {
    const box = make("div", "pl-card"), bandwidth = card.name === "busbw", { then, times, verdict } = this.difference(card);
    box.dataset.name = card.name;
    if (bandwidth && then) box.dataset.verdict = verdict;
    const label = make("div", "pl-label");
    label.append(make("span", "", card.label));
    const value = make("div", "pl-value", bandwidth ? this.rate(card.amount, card) : card.value), chip = times && !this.ratio; // else the headline has it
    const fault = bandwidth && then && !this.then && this.meta.settings_before && FAULTS.some((name) => this.meta.settings[name] !== this.meta.settings_before[name]);
    const arrow = bandwidth && then && !chip && !this.then && !fault;
    if (arrow) value.prepend(make("span", "pl-before", `${then.replace(/ .*/, "")} → `));
    const shared = bandwidth && this.scale.device ? `per device (1/${this.meta.devices})` : "", sends = bandwidth && card.amount !== null; // how busy the wire is, the picture says
    value.classList.toggle("pl-long", value.textContent.length > LONG);
    const note = make("div", "pl-note", [sends ? "" : card.note, shared].filter(Boolean).join(", ").replace(/ %/g, "\u00a0%"));
    if (sends && card.does) note.prepend(make("span", "pl-does", card.does + (shared && ", ")));
    note.title = sends ? [card.note, card.says].filter(Boolean).join("; ") : (card.hint ?? "");
    box.append(label, value, note);
    if (chip) value.append(make("span", `pl-ratio pl-${verdict}`, times));
    // The arrow says it in figures, and of a bottleneck the switch has just shown it: a card has one quiet line.
    if (then && this.then) box.append(make("div", "pl-was", `${this.then} ${then}`));
    else if (fault) box.append(make("div", "pl-was", `${then} ${baseline(this.meta)}`));
    else if (then) value.title = arrow && times ? `${times} that ${baseline(this.meta)}` : `${baseline(this.meta)}: ${then}`;
    if (bandwidth) this.addUnits(label);
    return box;
  }

  // What a figure was, how many times that a bandwidth is now, and whether the change is for the better.
  difference(card) {
    const then = this.before.find((one) => one.name === card.name);
    if (!then?.word || !card.word || (then.word === card.word && !card.always)) return { times: "", verdict: "same" };
    const gain = card.amount / then.amount, more = gain > 1.005, less = gain < 0.995; // 2/0 is more, 0/0 neither
    const better = card.more === "better" ? more : less, worse = card.more === "better" ? less : more;
    const word = card.name === "busbw" ? this.rate(then.amount, card) : then.word;
    return {
      then: word,
      times: card.name === "busbw" && gain > 0.01 && gain < 100 ? sayTimes(gain) : "",
      verdict: better ? "better" : worse ? "worse" : "same",
    };
  }

  // A bandwidth in a unit that suits it and what it is compared with.
  rate(GBps, { name, amount }) {
    const largest = Math.max(amount ?? 0, this.before.find((one) => one.name === name)?.amount ?? 0) * this.scale.factor;
    const [size, prefix] = PREFIXES.find(([size]) => largest >= 0.1 * size) ?? PREFIXES.at(-1);
    return GBps === null ? "none" : `${digits((GBps * this.scale.factor) / size)} ${prefix}${this.scale.unit.slice(1)}`;
  }

  addUnits(label) {
    const units = make("span", "pl-units"), add = (unit, text, title, act) => {
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
      units.append(button);
    };
    add("bits", this.scale.bits ? "GB" : "Gb", this.scale.bits ? "Show gigabytes per second" : "Show gigabits per second", () => (this.scale.bits = !this.scale.bits));
    if (this.meta.devices > 1)
      add("device", this.scale.device ? this.meta.counted : "device", `Show per ${this.scale.device ? this.meta.counted : "device"}`, () => (this.scale.device = !this.scale.device));
    label.append(units);
  }
}
