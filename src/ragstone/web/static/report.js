"use strict";
/* Of the report and of a run in a copy: filters, sorting, links into it, and open details in print. */
(() => {
  const $ = (s, o = document) => o.querySelector(s), $$ = (s, o = document) => [...o.querySelectorAll(s)];
  const form = $("#filter"), section = form?.closest("section"), table = section && $("table", section), body = table?.tBodies[0];
  const heads = [...(table?.tHead.rows[0].cells || [])], rows = [...(body?.rows || [])], more = table?.dataset.more?.split("\t") || [];

  // The filter is in the address, after the anchor: #answers?stage=unsupported&q=refund
  const read = () => {
    const [at, query = ""] = decodeURIComponent(location.hash.slice(1)).split("?");
    if (form && at === section.id) {
      const asked = new URLSearchParams(query);
      for (const field of form.elements) if (field.name) field.value = asked.get(field.name) || "";
      filter(); sort();
      if (query) section.scrollIntoView();
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
      row.hidden = (system && d.system !== system) || (stage === "bad" ? !d.stage || d.stage === "partial" || d.stage === "no_fault" : stage && d.stage !== stage)
        || (scores && !(scores in d)) || !words.every(word => text.includes(word));
      shown += !row.hidden;
    }
    $("#shown").textContent = shown.toLocaleString("en");
    $("#none").hidden = shown > 0;
  };
  const keep = () => {
    const asked = new URLSearchParams([...new FormData(form)].filter(([, value]) => value));
    history.replaceState(null, "", `#${section.id}${asked.size ? `?${asked}` : ""}`);
  };
  const sortable = head => {
    const button = document.createElement("button"), name = head.dataset.name;
    button.className = "sort"; button.type = "button"; button.append(...head.childNodes); head.append(button);
    button.addEventListener("click", () => { form.sort.value = form.sort.value === name ? `-${name}` : name; keep(); sort(); });
  };
  // A metric gets its column when somebody sorts by it.
  const extend = name => {
    const at = more.indexOf(name);
    if (at < 0 || heads.some(head => head.dataset.name === name)) return;
    const head = document.createElement("th");
    head.scope = "col"; head.className = "n"; head.dataset.name = name; head.textContent = name;
    heads.push(head); table.tHead.rows[0].append(head); sortable(head);
    for (const row of rows) { const cell = row.insertCell(); cell.className = "n"; cell.textContent = row.dataset.more.split("\t")[at]; }
  };
  const sort = () => {
    const asked = form.sort.value, down = asked.startsWith("-") ? -1 : 1, name = asked.slice(down < 0);
    extend(name);
    const at = heads.findIndex(head => asked && head.dataset.name === name), of = row => row.cells[at].textContent.trim();
    heads.forEach((head, place) => { head.ariaSort = place === at ? (down > 0 ? "ascending" : "descending") : null; });
    const less = (a, b) => {
      const [x, y] = [of(a), of(b)], [m, n] = [parseFloat(x), parseFloat(y)];
      if (!heads[at].classList.contains("n")) return down * x.localeCompare(y);
      return isNaN(m) - isNaN(n) || (down * (isNaN(m) ? x.localeCompare(y) : m - n));
    };
    body.append(...(at < 0 ? rows : [...rows].sort(less)));
  };
  if (form && body) {
    form.hidden = false;
    form.addEventListener("submit", e => e.preventDefault());
    form.addEventListener("input", () => { keep(); filter(); });
    form.addEventListener("reset", () => setTimeout(() => { form.sort.value = ""; keep(); filter(); sort(); }));
    heads.forEach(sortable);
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
