"use strict";
/* Shows the words that somebody's label rests on. */
import { mark, unfold } from "./annotate_texts.js";

document.addEventListener("click", e => {
  const one = e.target.closest?.(".evi");
  if (!one) return;
  const { show, start, end } = one.dataset, text = document.querySelector(`[data-text="${CSS.escape(show)}"]`);
  if (!text) return;
  unfold(text.closest(".ctx"));
  mark(document.querySelector("#item"), "theirs", [{ text: show, start: +start, end: +end }]);
  text.scrollIntoView({ block: "nearest" });
});
