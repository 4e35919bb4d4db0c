// What a page knows of each of its views. The list of views is peerlab/picture/views.py: to each name in it belongs a script of
// that name, which exports a class like this one.
export class View {
  // The place of its HTML: where `insertAdjacentHTML` puts it, beside or in which element of the page.
  static place = ["beforeend", ".pl-lower"];
  static html = "";
  static figure = null; // the element that holds its Bokeh figure, if it has one

  // Builds what is built once. The figures are there, and empty.
  constructor(page) {
    this.page = page;
    this.figures = page.figures;
  }

  // Takes up the room that it will need for a parcel; called once, so that no figure is painted twice.
  makeRoom(part, data) {}

  // Shows a parcel: `part` is the view's own part, `data` all of it.
  apply(part, data) {}

  // What may follow when that is on the screen.
  follow() {}

  // Draws the moment `time` (microseconds of the simulation); `flow` of them pass per second of watching.
  draw(time, flow) {}

  // Draws again what stands still: the size or the theme has changed.
  paint() {}

  // What a message from the model's other side means for it.
  hear(message) {}

  close() {}
}
