"use strict";
// A field above each table that can be sorted, which hides the rows that lack a word of it; headings by keyboard.
for (const table of document.querySelectorAll("table.sortable")) {
  for (const heading of table.tHead.rows[0].cells) {
    heading.tabIndex = 0;
    heading.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        heading.click();
      }
    });
  }
  const rows = Array.from(table.tBodies[0].rows);
  if (rows.length < 15) continue;
  const texts = rows.map((row) => row.textContent.toLowerCase());
  const label = document.createElement("label");
  label.className = "filter";
  const field = document.createElement("input");
  field.type = "search";
  field.placeholder = "Filter rows";
  field.setAttribute("aria-label", "Filter rows of " + (table.caption ? table.caption.textContent : "the table"));
  const said = document.createElement("output");
  said.textContent = rows.length + " rows";
  field.addEventListener("input", () => {
    const words = field.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    rows.forEach((row, place) => {
      row.hidden = !words.every((word) => texts[place].includes(word));
      shown += row.hidden ? 0 : 1;
    });
    said.textContent = words.length ? shown + " of " + rows.length + " rows" : rows.length + " rows";
  });
  label.append(field, said);
  table.closest(".scroll").before(label);
}
