"use strict";
/* Of the report file alone: filters, sorting, links into it, and open details in print. */
(() => {
  const $ = (s, o = document) => o.querySelector(s), $$ = (s, o = document) => [...o.querySelectorAll(s)];
  const form = $("#filter"), body = $("#answers tbody");

  // The filter is in the address, after the anchor: #answers?stage=unsupported&q=refund
  const read = () => {
    const [at, query = ""] = decodeURIComponent(location.hash.slice(1)).split("?");
    if (form && at === "answers") {
      const asked = new URLSearchParams(query);
      for (const field of form.elements) if (field.name) field.value = asked.get(field.name) || "";
      filter();
      if (query) $("#answers").scrollIntoView();
    } else if (at) {
      const there = document.getElementById(at);
      there?.querySelector("details")?.setAttribute("open", "");
      there?.closest("details")?.setAttribute("open", "");
      there?.scrollIntoView();
    }
  };
  const filter = () => {
    const { q, system, stage, scores } = Object.fromEntries(new FormData(form));
    const words = q.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of body.rows) {
      const text = words.length ? row.textContent.toLowerCase() : "", d = row.dataset;
      row.hidden = (system && d.system !== system) || (stage === "short" ? !d.stage || d.stage === "no_fault" : stage && d.stage !== stage)
        || (scores && !(scores in d)) || !words.every(word => text.includes(word));
      shown += !row.hidden;
    }
    $("#shown").textContent = shown.toLocaleString("en");
    $("#none").hidden = shown > 0;
  };
  if (form && body) {
    form.hidden = false;
    form.addEventListener("submit", e => e.preventDefault());
    form.addEventListener("input", () => {
      const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
      history.replaceState(null, "", `#answers${asked.size ? `?${asked}` : ""}`);
      filter();
    });
    form.addEventListener("reset", () => setTimeout(() => { history.replaceState(null, "", "#answers"); filter(); }));
    $$("#answers thead th").forEach((head, at) => {
      const button = document.createElement("button");
      button.className = "sort"; button.append(...head.childNodes); head.append(button);
      button.addEventListener("click", () => {
        const down = head.ariaSort === "ascending" ? -1 : 1;
        $$("#answers thead th").forEach(one => { one.ariaSort = null; });
        head.ariaSort = down > 0 ? "ascending" : "descending";
        const of = row => row.cells[at].textContent.trim();
        const less = (a, b) => {
          const [x, y] = [of(a), of(b)], [m, n] = [parseFloat(x), parseFloat(y)];
          return head.classList.contains("n") ? (isNaN(m) - isNaN(n)) || (down * (m - n || x.localeCompare(y)) || 0) : down * x.localeCompare(y);
        };
        body.append(...[...body.rows].sort(less));
      });
    });
  }
  // A claim lights up with the words it rests on, within its example.
  document.addEventListener("mouseover", e => {
    $$(".lit").forEach(one => one.classList.remove("lit"));
    const at = e.target.closest?.("[data-k]"), keys = at?.dataset.k.split(" ") || [];
    if (at) $$("[data-k]", at.closest("details.q")).forEach(one => { if (one.dataset.k.split(" ").some(key => keys.includes(key))) one.classList.add("lit"); });
  });
  addEventListener("hashchange", read);
  addEventListener("beforeprint", () => $$("details.q").forEach(one => { one.dataset.was = one.open; one.open = true; }));
  addEventListener("afterprint", () => $$("details.q").forEach(one => { one.open = one.dataset.was === "true"; }));
  read();
})();
