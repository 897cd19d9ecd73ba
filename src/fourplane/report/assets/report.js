"use strict";
(() => {
  const form = document.getElementById("filter");
  if (!form) return;
  const rows = [...document.querySelectorAll("table[data-filter] tbody tr")];
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const search = document.getElementById("filter-text");
  const boxes = [...form.querySelectorAll("input[type=checkbox]")];
  const status = document.getElementById("filter-status");
  const apply = () => {
    const wanted = new Set(boxes.filter((box) => box.checked).map((box) => box.value));
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, index) => {
      const keep = wanted.has(row.dataset.verdict) && words.every((word) => texts[index].includes(word));
      row.hidden = !keep;
      if (keep) shown += 1;
    });
    status.textContent = shown === rows.length ? "" : `${shown} of ${rows.length} facts shown`;
  };
  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.hidden = rows.length === 0;
})();
