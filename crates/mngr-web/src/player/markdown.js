// Markdown as agents write it, made of elements. Whatever looks like HTML stays text, and no address leads anywhere.
"use strict";
(() => {
  const { el } = mngr;
  const MAX = 20000; // Nobody reads more.
  // Code, strong, emphasis, and a link. Every part is bounded, so that no text takes long.
  const INLINE = /`([^`\n]{1,500})`|\*\*([^*\n]{1,500})\*\*|\*([^*\s][^*\n]{0,500})\*|\[([^\]\n]{1,300})\]\(([^)\s]{1,500})\)/g;

  const inline = (text) => {
    const parts = [];
    let at = 0;
    for (const found of text.matchAll(INLINE)) {
      const [whole, code, strong, em, label, address] = found;
      parts.push(text.slice(at, found.index));
      at = found.index + whole.length;
      if (code !== undefined) parts.push(el("code", { text: code }));
      else if (strong !== undefined) parts.push(el("strong", { text: strong }));
      else if (em !== undefined) parts.push(el("em", { text: em }));
      else parts.push(label, el("span", { class: "md-address", text: ` (${address})` }));
    }
    parts.push(text.slice(at));
    return parts.filter((part) => part !== "");
  };

  const BLOCKS = [
    ["item", /^\s{0,6}[-*+]\s+(.*)$/],
    ["number", /^\s{0,6}\d{1,4}[.)]\s+(.*)$/],
    ["title", /^#{1,6}\s+(.*)$/],
    ["quote", /^>\s?(.*)$/],
    ["table", /^(\|.*)$/],
  ];
  const kindOf = (line) => {
    if (!line.trim()) return ["blank", ""];
    for (const [kind, shape] of BLOCKS) {
      const found = shape.exec(line);
      if (found) return [kind, found[1]];
    }
    return ["text", line];
  };

  const MAKE = {
    item: (lines) =>
      el(
        "ul",
        {},
        lines.map((line) => el("li", {}, inline(line))),
      ),
    number: (lines) =>
      el(
        "ol",
        {},
        lines.map((line) => el("li", {}, inline(line))),
      ),
    title: (lines) => lines.map((line) => el("p", { class: "md-title" }, inline(line))),
    quote: (lines) => el("blockquote", {}, inline(lines.join("\n"))),
    table: (lines) => el("pre", { text: lines.join("\n") }),
    text: (lines) => el("p", {}, inline(lines.join("\n"))),
    blank: () => [],
  };

  mngr.markdown = (text) => {
    const blocks = [];
    let [kind, lines] = ["blank", []];
    const end = () => {
      blocks.push(MAKE[kind](lines));
      [kind, lines] = ["blank", []];
    };
    let fence = null; // The lines of a block of code.
    for (const line of String(text).slice(0, MAX).split("\n")) {
      const isFence = /^\s{0,3}```/.test(line);
      if (fence && !isFence) fence.push(line);
      else if (fence) {
        blocks.push(el("pre", { text: fence.join("\n") }));
        fence = null;
      } else if (isFence) {
        end();
        fence = [];
      } else {
        const [next, rest] = kindOf(line);
        // A line that goes on belongs to the item above it.
        if (next === "text" && (kind === "item" || kind === "number")) lines.push(`${lines.pop()} ${rest.trim()}`);
        else {
          if (next !== kind) end();
          [kind, lines] = [next, [...lines, rest]];
        }
      }
    }
    end();
    if (fence) blocks.push(el("pre", { text: fence.join("\n") }));
    return el("div", { class: "md" }, blocks.flat());
  };
})();
