// What a page shows as words, and where: in the document, in SVG and on canvases. To be run before the page draws.
(() => {
  const { prototype } = CanvasRenderingContext2D, { clearRect, fillText } = prototype, painted = new Map(); // of each canvas, its words
  const transparent = /^(transparent|rgba\(.*, 0\)|#[0-9a-f]{6}00)$/i;

  // Bokeh clears a canvas as a whole before it paints it again.
  prototype.clearRect = function (...box) {
    painted.delete(this.canvas);
    return clearRect.apply(this, box);
  };

  prototype.fillText = function (text, x, y, ...rest) {
    if (String(text).trim() && !transparent.test(this.fillStyle)) painted.set(this.canvas, [...(painted.get(this.canvas) ?? []), onCanvas(this, String(text), x, y)]);
    return fillText.call(this, text, x, y, ...rest);
  };

  // The ink of a word on a canvas, in pixels of the canvas.
  function onCanvas(context, text, x, y) {
    const ink = context.measureText(text), matrix = context.getTransform();
    const corners = [-ink.actualBoundingBoxLeft, ink.actualBoundingBoxRight].flatMap((dx) =>
      [-ink.actualBoundingBoxAscent, ink.actualBoundingBoxDescent].map((dy) => matrix.transformPoint(new DOMPoint(x + dx, y + dy))),
    );
    return { text, corners, size: parseFloat(context.font.match(/([\d.]+)px/)[1]) * Math.hypot(matrix.c, matrix.d) };
  }

  function* onCanvases(within) {
    for (const [canvas, words] of painted) {
      const place = canvas.getBoundingClientRect(), zoom = place.width / canvas.width, host = canvas.getRootNode().host ?? canvas;
      if (!canvas.isConnected || !place.width || !inside(host, within) || !host.checkVisibility({ visibilityProperty: true })) continue;
      for (const { text, corners, size } of words) {
        const xs = corners.map(({ x }) => place.left + x * zoom), ys = corners.map(({ y }) => place.top + y * zoom);
        const box = { left: Math.min(...xs), right: Math.max(...xs), top: Math.min(...ys), bottom: Math.max(...ys) };
        yield { text, size: size * zoom, ...box, owner: canvas, place };
      }
    }
  }

  // Whether an element lies in another one, through shadow roots too.
  function inside(element, within) {
    for (let up = element; up; up = up.parentNode ?? up.host) if (up === within) return true;
    return false;
  }

  const scratch = document.createElement("canvas").getContext("2d");

  // The ink of the words in the document, line by line: `whole`, and what the elements around it let see.
  function* inDocument(within) {
    const nodes = document.createTreeWalker(within, NodeFilter.SHOW_TEXT), range = document.createRange();
    while (nodes.nextNode()) {
      const node = nodes.currentNode, element = node.parentElement, text = node.textContent.trim();
      if (!text || element.closest("script, style, title, select") || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const look = getComputedStyle(element), places = [visible(element, HIDDEN), visible(element, SCROLLED)], svg = svgOf(element);
      if (!places[0] || transparent.test(element.closest("svg") ? look.fill : look.color)) continue;
      range.selectNodeContents(node);
      scratch.font = `${look.fontStyle} ${look.fontWeight} ${look.fontSize} ${look.fontFamily}`;
      const ink = scratch.measureText(text), tall = ink.fontBoundingBoxAscent + ink.fontBoundingBoxDescent;
      for (const { left, right, top, bottom } of range.getClientRects()) {
        const zoom = (bottom - top) / tall, base = top + zoom * ink.fontBoundingBoxAscent;
        const whole = { left, right, top: base - zoom * ink.actualBoundingBoxAscent, bottom: base + zoom * ink.actualBoundingBoxDescent };
        if (svg && !seen(common(whole, svg))) continue; // beyond what an SVG shows, as the second node of a still of one
        yield { text, size: zoom * parseFloat(look.fontSize), ...common(whole, common(...places)), isCut: !liesIn(common(whole, places[1]), places[0], 1.5), owner: node, place: svg, element };
      }
    }
  }

  function svgOf(element) {
    const svg = element.closest("svg");
    return svg && getComputedStyle(svg).overflow !== "visible" ? svg.getBoundingClientRect() : null;
  }

  function common(a, b) {
    return { left: Math.max(a.left, b.left), right: Math.min(a.right, b.right), top: Math.max(a.top, b.top), bottom: Math.min(a.bottom, b.bottom) };
  }

  const HIDDEN = /hidden|clip/, SCROLLED = /auto|scroll/, EVERYWHERE = { left: -Infinity, right: Infinity, top: -Infinity, bottom: Infinity };

  // The place that the elements around one leave it which do this with what goes beyond them; none for what is kept for screen readers.
  function visible(element, does) {
    let place = EVERYWHERE;
    for (let up = element; up && up !== document.body; up = up.parentElement) {
      const { overflowX, overflowY, clipPath, position } = getComputedStyle(up);
      if (clipPath !== "none" && position === "absolute") return null;
      const { left, right, top, bottom } = up.getBoundingClientRect();
      if (does.test(overflowX)) place = common(place, { ...EVERYWHERE, left, right });
      if (does.test(overflowY)) place = common(place, { ...EVERYWHERE, top, bottom });
    }
    return place;
  }

  const seen = ({ left, right, top, bottom }) => right - left > 1 && bottom - top > 1;
  const liesIn = (one, other, slack) => !seen(one) || one.left >= other.left - slack && one.right <= other.right + slack && one.top >= other.top - slack && one.bottom <= other.bottom + slack;

  const isLabel = ({ owner, element }) => owner instanceof HTMLCanvasElement || Boolean(element.closest("svg"));
  const said = ({ text, left, top }) => `${text} (${Math.round(left)}, ${Math.round(top)})`;
  const root = (selector) => document.querySelector(selector) ?? document.body;
  const touch = (a, b) => { const { left, right, top, bottom } = common(a, b); return right - left > 1 && bottom - top > 1; };

  const api = {
    words: (selector) => read(root(selector)).words.map(({ text, left, right, top, bottom, size }) => ({ text, left, right, top, bottom, size })),

    // What is wrong with the words in a part of a page, each fault with its kind. The page is read once: that takes longest.
    faults(selector, marks, least) {
      const within = root(selector), { all, words } = read(within), kinds = {
        "one word on another": overlaps(words),
        "out of its picture": outside(words).map(said),
        "cut off": all.filter(({ isCut, text }) => isCut || /(\.\.\.|…)$/.test(text)).map(said),
        "too small": words.filter(({ size }) => size < least - 0.05).map((word) => `${said(word)}: ${word.size.toFixed(1)} px`),
        "a word on a line": marks ? onMarks(words, within.querySelectorAll(marks)) : [],
      };
      return Object.entries(kinds).flatMap(([kind, faults]) => faults.map((fault) => `${kind}: ${fault}`));
    },
  };

  function read(within) {
    const all = [...onCanvases(within), ...inDocument(within)];
    return { all, words: all.filter(seen) };
  }

  // Pairs of words of which one lies on the other; labels of a picture are apart by a third of a letter's height, too.
  function overlaps(words) {
    const pairs = [], labels = words.map(isLabel);
    words.forEach((a, i) => words.slice(i + 1).forEach((b, j) => {
      if (a.owner === b.owner && !(a.owner instanceof HTMLCanvasElement)) return;
      const { left, right, top, bottom } = common(a, b), gap = labels[i] && labels[i + 1 + j] ? Math.min(a.size, b.size) / 3 : -1;
      if (right - left > -gap && bottom - top > 1) pairs.push(`${said(a)} on ${said(b)}`);
    }));
    return pairs;
  }

  // Words that lie on what is drawn: boxes, or lines as thick as they are. A line is followed only where its frame touches a word.
  function onMarks(words, marks) {
    const pairs = [];
    for (const mark of marks) {
      const frame = mark.getBoundingClientRect(), thick = parseFloat(getComputedStyle(mark).strokeWidth) * (mark.getScreenCTM?.().a ?? 1) / 2 || 0;
      const around = { left: frame.left - thick, right: frame.right + thick, top: frame.top - thick, bottom: frame.bottom + thick };
      const near = words.filter((word) => touch(word, around) && word.element !== mark && !mark.contains(word.element));
      if (!near.length) continue;
      const boxes = mark instanceof SVGGeometryElement && mark.getTotalLength ? along(mark) : [frame];
      pairs.push(...near.filter((word) => boxes.some((box) => touch(word, box))).map((word) => `${said(word)} on ${mark.outerHTML.slice(0, 80)}`));
    }
    return pairs;
  }

  // Words that go beyond the picture or the window in which they are.
  function outside(words) {
    const edge = { left: 0, right: document.documentElement.clientWidth };
    return words.filter(({ left, right, top, bottom, place }) =>
      left < edge.left - 1 || right > edge.right + 1 || (place && (left < place.left - 1 || right > place.right + 1 || top < place.top - 1 || bottom > place.bottom + 1)));
  }

  // Boxes along a line, each as large as the line is thick.
  function along(line) {
    const { stroke, strokeWidth, visibility } = getComputedStyle(line), matrix = line.getScreenCTM(), length = line.getTotalLength(), boxes = [];
    if (!length || stroke === "none" || visibility === "hidden") return boxes;
    const half = (parseFloat(strokeWidth) * matrix.a) / 2, every = Math.max(2, half);
    for (let at = 0; at <= length; at += every) {
      const { x, y } = line.getPointAtLength(at).matrixTransform(matrix);
      boxes.push({ left: x - half, right: x + half, top: y - half, bottom: y + half });
    }
    return boxes;
  }

  globalThis.wordsDrawn = api;
})();
