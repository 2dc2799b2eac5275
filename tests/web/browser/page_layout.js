// What of a page a person cannot read: texts one over the other, and what is cut without a way to
// reach it. Returns a line for each.
async () => {
  // What fades where it can be scrolled follows the page's size a frame later.
  await new Promise(drawn => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  const SLACK = 2, faults = new Set(), boxes = [], styles = new Map();
  const css = part => styles.get(part) ?? styles.set(part, getComputedStyle(part)).get(part);
  const inDrawing = part => part.ownerSVGElement;
  const hidden = part => part.closest(".sr, .skip, title, script, style") || part.matches("details:not([open])")
    || [...ancestors(part)].some(up => up.matches("details:not([open]) > :not(summary:first-of-type)"))
    || !part.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  function* ancestors(part) { for (let up = part; up && up !== document.body; up = up.parentElement) yield up; }

  // The layer that a part lies in: what stays in view while the rest goes by may cover it.
  const layer = part => [...ancestors(part)].find(up => !inDrawing(up) && ["fixed", "absolute", "sticky"].includes(css(up).position));

  // What can be seen of a box. Cut without an ellipsis, or anything else that says so, is a fault.
  function seen({ left, top, right, bottom }, part, words) {
    for (const up of ancestors(part)) {
      const look = css(up);
      if (inDrawing(up) || look.overflowX === "visible" || look.display === "inline") continue;
      const edge = up.getBoundingClientRect();
      const says = look.textOverflow === "ellipsis" || look.webkitLineClamp !== "none" || up.matches("svg");
      // Of three dots alone nobody knows what they stand for.
      const cuts = ["hidden", "clip"].includes(look.overflowX) && (!says || edge.width < 24);
      const low = bottom > edge.bottom + SLACK && look.maskImage === "none";
      if (cuts && (right > edge.right + SLACK || low)) faults.add(`cut: ${words}`);
      [left, top] = [Math.max(left, edge.left), Math.max(top, edge.top)];
      [right, bottom] = [Math.min(right, edge.right), Math.min(bottom, edge.bottom)];
    }
    return right - left > SLACK && bottom - top > SLACK && { left, top, right, bottom };
  }
  function add(box, part, words, isText) {
    const shown = box.width >= 1 && box.height >= 1 && seen(box, part, words);
    if (!shown) return;
    if (shown.right > innerWidth + SLACK || shown.left < -SLACK) faults.add(`beyond the edge: ${words}`);
    boxes.push({ ...shown, part, words, isText, layer: layer(part), drawing: part.closest("svg") });
  }

  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), range = document.createRange();
  for (let text; (text = texts.nextNode());) {
    if (!text.data.trim() || hidden(text.parentElement)) continue;
    range.selectNodeContents(text);
    for (const { x, y, width, height } of range.getClientRects())
      // Without the room above and below the letters, which lines share.
      add(new DOMRect(x, y + height / 8, width, height * 0.75), text.parentElement, text.data.trim().slice(0, 40), true);
  }
  for (const part of document.querySelectorAll("svg circle, svg rect, svg path, input, select, textarea, .btn"))
    if (!hidden(part)) add(part.getBoundingClientRect(), part, `<${part.localName} ${part.getAttribute("class") ?? part.id}>`, false);

  function together(one, other) {
    const drawn = one.drawing && one.drawing === other.drawing, texts = one.isText && other.isText;
    const label = one.part.closest("label");
    return one.layer !== other.layer || (!one.isText && !other.isText) || (drawn && !texts)
      || one.part.contains(other.part) || other.part.contains(one.part)
      || (label && !texts && label.contains(other.part));
  }
  boxes.sort((one, other) => one.top - other.top);
  let above = [];
  for (const box of boxes) {
    above = above.filter(other => other.bottom > box.top + SLACK);
    for (const other of above) {
      const wide = Math.min(box.right, other.right) - Math.max(box.left, other.left);
      const room = box.isText && other.isText ? SLACK : 0;
      if (wide > room && !together(box, other)) faults.add(`${box.words} over ${other.words}`);
    }
    above.push(box);
  }
  for (const part of document.querySelectorAll("main *"))
    if (part.scrollWidth > part.clientWidth + SLACK && ["auto", "scroll"].includes(css(part).overflowX)
      && part.clientWidth && !hidden(part) && css(part).maskImage === "none")
      faults.add(`nothing says that it can be scrolled: ${part.localName}.${part.className}`);
  return [...faults];
}
