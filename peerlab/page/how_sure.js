// How sure a ratio is, as a picture in a dialog: the button that opens it, and the dialog.
import { make } from "./dom.js";

export class HowSure {
  constructor(page) {
    this.dialog = make("dialog", "pl-sure");
    this.dialog.setAttribute("aria-label", "How sure are we?");
    this.dialog.addEventListener("keydown", (event) => event.key === "Escape" || event.stopPropagation()); // keys of the page rest
    page.find(".pl-help").after(this.dialog);
  }

  // The button beside a ratio; nothing where there is no picture of it.
  button({ fast, slow, sure, says }) {
    if (!sure) return "";
    const button = make("button", "pl-unit-button", "sure?");
    button.type = "button";
    button.setAttribute("aria-label", "How sure?");
    button.title = "What is not known, what each of it does to the figure, and which fact to check first";
    button.addEventListener("click", () => this.open(`${fast} against ${slow}`, sure, says));
    return button;
  }

  open(of, sure, says) {
    const picture = make("img", ""), close = make("button", "pl-button", "Close");
    picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(sure)}`;
    picture.alt = says;
    close.addEventListener("click", () => this.dialog.close());
    this.dialog.replaceChildren(make("h3", "", `How sure are we? ${of}`), picture, make("p", "", says), close);
    this.dialog.showModal();
  }
}
