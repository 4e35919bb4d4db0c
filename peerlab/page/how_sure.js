// How sure a ratio is, as a picture in a dialog: the link that opens it, and the dialog.
import { make } from "./dom.js";

export class HowSure {
  constructor(page) {
    this.figures = page.figures;
    this.dialog = make("dialog", "pl-sure");
    this.dialog.setAttribute("aria-label", "How sure are we?");
    this.dialog.addEventListener("keydown", (event) => event.key === "Escape" || event.stopPropagation()); // keys of the page rest
    page.find(".pl-help").after(this.dialog);
  }

  // The condition of a ratio as a link that opens the picture; nothing where there is no picture of it.
  link({ fast, slow, sure, says, condition }, simulated) {
    if (!sure) return "";
    const button = make("button", "pl-link pl-condition", condition);
    button.type = "button";
    button.setAttribute("aria-label", `${condition}: how sure?`);
    button.title = "What is not known, what each of it does to the figure, and which fact to check first";
    button.addEventListener("click", () => this.open(`${fast} against ${slow}`, sure, says, simulated));
    return button;
  }

  // Shows the picture, its sentence, and whether a library was simulated or topology alone.
  open(of, sure, says, simulated) {
    const close = make("button", "pl-button", "Close"), told = make("p", "");
    this.picture = make("img", "");
    this.picture.alt = says.replaceAll("`", "");
    this.drawn = sure;
    for (const [i, part] of says.split("`").entries()) told.append(i % 2 ? make("code", "", part) : part); // between two backticks is a command
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.replaceChildren(make("h3", "", `How sure are we? ${of}`), this.picture, told, make("p", "", `Simulated: ${simulated}.`), close);
    this.paint();
    this.dialog.showModal();
  }

  // Gives the picture the colours of the theme: an image of its own knows nothing of the page's.
  paint() {
    if (!this.picture) return;
    const coloured = this.drawn.replace(/var\(--pl-([\w-]+)\)/g, (_, role) => this.figures.colour(role));
    this.picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(coloured)}`;
  }
}
