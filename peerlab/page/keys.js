// The keys of a page, and the dialog that lists them and the signs of its drawings.
import { make } from "./dom.js";

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
  ["?", "show or hide this list"],
];
export const SIGNS = [
  ["thin or hollow", "other nodes"],
  ["dotted", "way of slices"],
  ["paler", "every other slice"],
  ["\u2020", "an assumed figure"],
];

export class Keys {
  // `acts` holds what each key does, by its name in small letters.
  constructor(dialog, acts) {
    this.dialog = dialog;
    this.acts = { ...acts, "?": () => this.toggle() };
    const list = (rows) => {
      const terms = make("dl", "pl-keys");
      for (const [term, what] of rows) terms.append(make("dt", "", term), make("dd", "", what));
      return terms;
    };
    const close = make("button", "pl-button", "Close");
    close.addEventListener("click", () => dialog.close());
    dialog.replaceChildren(make("h3", "", "Keys"), list(KEYS), make("h3", "", "Signs in the drawings"), list(SIGNS), close);
  }

  toggle() {
    if (this.dialog.open) this.dialog.close();
    else this.dialog.showModal();
  }

  // Does what a key is for; what it is not for is left to others.
  press(event) {
    const act = this.acts[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    if (keeps(event) || (this.dialog.open && event.key !== "?")) return;
    event.preventDefault();
    event.stopPropagation();
    act();
  }
}

const KEPT = [
  ["select, textarea, input:not([type=range], [type=checkbox])", /./],
  ["button, summary, a, input[type=checkbox]", /^( |Enter)$/],
];

// Whether a key is for the control that has the focus.
export function keeps({ target, key }) {
  return KEPT.some(([controls, keys]) => target.matches?.(controls) && keys.test(key));
}
