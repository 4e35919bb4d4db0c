// The footer: what the colours mean, what was simulated, what the figures rest on, and the scenario as Python.
import { copyText, make } from "./dom.js";
import { SIGNS } from "./keys.js";
import { Lateness } from "./late.js";
import { View } from "./view.js";

/**
 * @typedef {object} FooterParcel What the footer gets for a run
 * @property {string[][]} colours
 * @property {string[][]} greys
 * @property {string} caveat
 * @property {string[]} simulated
 * @property {Sources} sources
 */
/**
 * @typedef {object} Sources What the simulation rests on
 * @property {string} title
 * @property {SourceLine[]} lines
 */
/**
 * @typedef {object} SourceLine One line of the list of sources
 * @property {string} text
 * @property {boolean} assumed
 */
export class Footer extends View {
  static place = ["beforebegin", ".pl-help"];
  static html = `<footer class="pl-footer"><div class="pl-key" aria-label="Colours"></div><div class="pl-caption"></div></footer>`;

  constructor(page) {
    super(page);
    this.key = page.find(".pl-key");
    this.caption = page.find(".pl-caption");
    page.on("change:late", () => this.part && this.paint());
  }

  makeRoom(part, data) {
    this.apply(part, data);
    this.paint();
  }

  apply(part, { meta }) {
    this.part = part;
    this.meta = meta;
  }

  follow() {
    this.paint();
  }

  paint() {
    const { colours, greys, caveat, simulated, sources } = this.part, { code, nodes } = this.meta;
    const late = Lateness.of(this.page), listed = (texts) => texts.map((text) => make("li", "", text));
    const signs = nodes > 1 ? SIGNS.slice(0, 3).map(([sign, what]) => [sign, `${sign}: ${what}`]) : [], swatch = (name) => ([role, text]) => {
      const item = make("span", name, text);
      item.style.setProperty("--swatch", this.figures.colour(role));
      return item;
    };
    this.key.replaceChildren(
      ...colours.map(swatch("pl-swatch")),
      ...greys.map(swatch("pl-swatch pl-key-sign")),
      ...(signs.length ? [signsOf(signs)] : []),
      ...(sources.lines.some(({ assumed }) => assumed) ? [make("span", "pl-dagger", "† assumed")] : []), // on a slide, where the list of sources is not
    );
    this.key.title = signs.map(([, words]) => words).join("\n");
    const told = this.folded("pl-simulated", "What was simulated", listed([...simulated, ...(late ? [late.words] : [])]));
    const details = this.folded("pl-rests", sources.title, sources.lines.map((line) => make("li", line.assumed ? "pl-assumed" : "", line.text)));
    this.caption.replaceChildren(...(caveat ? [make("span", "pl-caveat", caveat)] : []), told, details, copyButton(code));
  }

  // A list below a word that opens it; open if it was.
  folded(name, title, items) {
    const details = make("details", name), list = make("ul", "pl-sources");
    list.append(...items);
    details.append(make("summary", "", title), list);
    details.open = Boolean(this.caption.querySelector(`.${name}`)?.open);
    return details;
  }
}

// What signs mean, in one line together.
function signsOf(signs) {
  const all = make("span", "pl-key-sign pl-signs");
  for (const [sign, words] of signs) {
    const item = make("span", "", words);
    item.dataset.sign = sign;
    all.append(item);
  }
  return all;
}

function copyButton(code) {
  const copy = make("button", "pl-link", "Copy as Python");
  copy.type = "button";
  copy.title = code;
  copy.addEventListener("click", async () => {
    await copyText(code);
    copy.textContent = "Copied";
    setTimeout(() => (copy.textContent = "Copy as Python"), 1500);
  });
  return copy;
}
