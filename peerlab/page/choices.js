// The controls of a page without a kernel: native ones, named for screen readers. They change every album together.
import { make } from "./dom.js";
import { foldSettings } from "./settings_button.js";

export class Choices {
  constructor(host, albums, subject) {
    this.albums = albums;
    for (const album of albums) album.together = albums;
    this.inputs = albums[0].choices.map((choice, at) => this.build(host, choice, at));
    this.note = host.appendChild(make("span", "pl-choices-note"));
    this.note.setAttribute("role", "status");
    host.append(make("span", "pl-subject", subject));
    foldSettings(host);
    albums[0].on("change:choices", () => {
      this.note.textContent = "";
      this.show();
    });
    this.show();
  }

  build(host, choice, at) {
    const box = make("label", `pl-choice pl-${choice.states ? "segments" : choice.kind}`), name = make("span", "pl-name", choice.states ? "" : choice.label);
    if (choice.states) name.append(make("b", "", choice.label), ...choice.states.map((state) => make("i", "", state)));
    const input = make(choice.kind === "select" ? "select" : "input", "");
    input.name = choice.field;
    if (choice.kind === "switch") {
      input.type = "checkbox";
      input.setAttribute("role", "switch");
      input.addEventListener("change", () => this.choose(at, input.checked ? 0 : 1));
      box.append(input, name);
    } else {
      if (choice.kind === "range") Object.assign(input, { type: "range", min: 0, max: choice.words.length - 1, step: 1 });
      else choice.names.forEach((text, i) => input.append(new Option(text, i)));
      input.addEventListener("input", () => this.choose(at, Number(input.value)));
      input.addEventListener("change", () => (this.dragged = null));
      box.append(name, input);
    }
    const output = choice.kind === "range" ? box.appendChild(make("output", "pl-output")) : null;
    host.append(box);
    return { input, output, choice };
  }

  choose(at, number) {
    const numbers = this.albums[0].numbers.with(at, number), remember = this.dragged === at ? "same drag" : true;
    this.dragged = this.inputs[at].choice.kind === "range" ? at : null;
    this.go(numbers, remember);
  }

  begin(numbers) {
    for (const album of this.albums) album.begin(numbers);
    this.show();
  }

  go(numbers, remember = true) {
    for (const album of this.albums) album.go(numbers, remember);
  }

  show() {
    const [album] = this.albums;
    this.inputs.forEach(({ input, output, choice }, i) => {
      const number = album.numbers[i];
      if (choice.kind === "switch") input.checked = number === 0;
      else input.value = number;
      input.disabled = this.albums.every((one) => one.rests(choice.field));
      input.closest("label").title = input.disabled ? "rests: this path registers its memory once, at start, or none" : "";
      if (!output) return;
      output.textContent = choice.names[number].replace(` ${choice.label.toLowerCase()}`, ""); // its name stands before the slider
      input.setAttribute("aria-valuetext", choice.names[number]);
    });
  }

  // The state as a link says it: nodes=64&path=peer-direct.
  get link() {
    const [album] = this.albums;
    return album.choices.map(({ field, words }, i) => `${field}=${encodeURIComponent(words[album.numbers[i]])}`).join("&");
  }

  // Acts on the numbers that a link asks for; what it does not name stays as it is, and so does what there is not, which is said.
  follow(link, act) {
    const [album] = this.albums, wanted = new URLSearchParams(link), plain = (text) => text.replace(/\s/g, "").toLowerCase();
    const names = ({ field }) => [field, field.replace("_bytes", "")], known = album.choices.flatMap(names);
    const lacking = [...wanted.keys()].filter((name) => !known.includes(name));
    const numbers = album.choices.map((choice, i) => {
      const name = names(choice).find((one) => wanted.has(one));
      if (!name) return album.numbers[i];
      const number = choice.words.findIndex((word) => plain(word) === plain(wanted.get(name)));
      if (number < 0) lacking.push(name);
      return number < 0 ? album.numbers[i] : number;
    });
    act(numbers);
    this.note.textContent = lacking.length ? `The link asks for ${lacking.map((name) => `${name}=${wanted.get(name)}`).join(", ")}, which this page does not hold.` : "";
  }
}
