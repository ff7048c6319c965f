// A transcript: any number of rows, of which only the visible ones are in the page. Pieces are loaded as they come into view.
"use strict";
(() => {
  const { el } = mngr;
  const MARKS = { "#": "#", $: "$", ">": "", " ": "", "!": "!", "?": "\u21b3", "~": "\u2026" };
  const NAMES = {
    "#": "comment",
    $: "command",
    ">": "command",
    " ": "output",
    "!": "error output",
    "?": "exit code",
    "~": "note",
  };
  const CLASSES = { "#": "comment", $: "command", ">": "command", " ": "out", "!": "err", "?": "exit", "~": "note" };
  const MAX_HEIGHT = 8e6; // Browsers lay out no more than some 30 million pixels.
  const SPARE = 10; // Rows around the visible ones.

  mngr.Transcript = class {
    // Its pieces are called `<prefix>/<n>`. `address(row)` is the place of a row; `covers(ms)` says whether a recording shows
    // that time, and `seek(ms)` goes there.
    constructor(prefix, version, hooks) {
      Object.assign(this, {
        prefix,
        version,
        hooks,
        count: 0,
        map: null,
        chosen: -1,
        offset: 0,
        rowHeight: 20,
        pieces: new Map(),
      });
      this.space = el("div", { class: "rows-space" });
      this.view = el("div", { class: "rows-view" });
      this.space.append(this.view);
      this.box = el("div", { class: "rows", role: "list", tabindex: "0", "aria-label": "Transcript" }, this.space);
      this.note = el("p", { class: "rows-note", role: "status" });
      this.element = el("div", { class: "transcript" }, this.box, this.note);
      this.box.addEventListener("scroll", () => this.#onScroll(), { passive: true });
      this.box.addEventListener("wheel", (event) => this.#onWheel(event), { passive: false });
      this.box.addEventListener("keydown", (event) => this.#onKey(event));
      this.resized = new ResizeObserver(() => this.#paintSoon());
      this.resized.observe(this.box);
      this.ready = this.#begin();
    }

    #name(part) {
      return `${this.prefix}/${part}`;
    }

    async #begin() {
      this.note.textContent = "Loading\u2026";
      try {
        const first = await mngr.load(this.#name(0), this.version);
        this.#take(0, first);
        if (!this.map) this.#resize(first.rows.length);
        this.#setMap(await mngr.load(this.#name("map"), this.version));
      } catch {
        this.note.textContent = "The transcript cannot be loaded.";
      }
    }

    #setMap(map) {
      this.map = map;
      this.#resize(map.count);
      this.note.textContent = map.count ? "" : "Nothing was run.";
      this.hooks.onMap?.(map);
    }

    // The test has gone on.
    async update(version) {
      const wasAtEnd = this.offset + this.#visible() >= this.count - 1;
      this.version = version;
      try {
        const map = await mngr.load(this.#name("map"), version);
        this.pieces.clear();
        this.#setMap(map);
        if (wasAtEnd) this.show(map.count - 1, "end");
      } catch {
        // The next change brings it.
      }
    }

    #resize(count) {
      this.count = count;
      this.rowHeight = parseFloat(getComputedStyle(this.box).getPropertyValue("--row")) || 20;
      const height = count * this.rowHeight;
      this.scale = Math.max(1, height / MAX_HEIGHT);
      this.space.style.height = `${height / this.scale}px`;
      // As high as it needs, and room for the bar below; the style limits it.
      this.box.style.height = `${Math.min(4000, height + 18)}px`;
      this.#paintSoon();
    }

    #visible() {
      return Math.max(1, Math.floor(this.box.clientHeight / this.rowHeight));
    }

    #onScroll() {
      // What we set ourselves must not be read back: it is rounded.
      if (this.box.scrollTop === this.setTop) return;
      this.setTop = null;
      const room = this.space.clientHeight - this.box.clientHeight;
      const last = Math.max(0, this.count - this.#visible());
      this.offset = this.scale === 1 ? this.box.scrollTop / this.rowHeight : room > 0 ? (this.box.scrollTop / room) * last : 0;
      this.#paintSoon();
    }

    // Where a pixel of the bar is many rows, the wheel would jump: it moves by rows.
    #onWheel(event) {
      if (this.scale === 1 || event.ctrlKey || !event.deltaY) return;
      event.preventDefault();
      this.#scrollTo(this.offset + (event.deltaY * (event.deltaMode === 1 ? 20 : 1)) / this.rowHeight);
    }

    #onKey(event) {
      if (this.scale === 1) return;
      const steps = {
        ArrowDown: 1,
        ArrowUp: -1,
        PageDown: this.#visible(),
        PageUp: -this.#visible(),
        Home: -Infinity,
        End: Infinity,
      };
      if (!(event.key in steps)) return;
      event.preventDefault();
      this.#scrollTo(this.offset + steps[event.key]);
    }

    #scrollTo(row) {
      const last = Math.max(0, this.count - this.#visible());
      this.offset = Math.min(last, Math.max(0, row));
      const room = this.space.clientHeight - this.box.clientHeight;
      this.box.scrollTop = this.scale === 1 ? this.offset * this.rowHeight : last ? (this.offset / last) * room : 0;
      this.setTop = this.box.scrollTop;
      this.#paintSoon();
    }

    // Brings a row into view and marks it.
    show(row, where = "middle") {
      this.chosen = where === "end" ? this.chosen : row;
      this.#scrollTo(row - this.#visible() * (where === "end" ? 1 : 0.35) + 1);
    }

    // The row that was there at a moment.
    async showMoment(ms) {
      await this.ready;
      if (!this.map || this.map.base === null) return;
      const time = ms - this.map.base;
      const piece = Math.max(
        0,
        last(this.map.times, (start) => start <= time),
      );
      const { first, rows } = await mngr.load(this.#name(piece), this.version);
      this.show(
        first +
          Math.max(
            0,
            last(rows, (row) => row[2] <= time),
          ),
      );
    }

    #pieceOf(row) {
      return this.map
        ? Math.max(
            0,
            last(this.map.firsts, (first) => first <= row),
          )
        : 0;
    }

    #take(number, piece) {
      this.pieces.delete(number);
      this.pieces.set(number, piece);
      while (this.pieces.size > 6) this.pieces.delete(this.pieces.keys().next().value);
    }

    #paintSoon() {
      if (this.painting) return;
      this.painting = requestAnimationFrame(() => {
        this.painting = null;
        this.#paint();
      });
    }

    #paint() {
      const start = Math.max(0, Math.floor(this.offset) - SPARE);
      const end = Math.min(this.count, Math.ceil(this.offset) + this.#visible() + SPARE);
      const rows = [];
      for (let row = start; row < end; row++) rows.push(this.#row(row));
      this.view.replaceChildren(...rows);
      const shift = this.scale === 1 ? start * this.rowHeight : this.box.scrollTop + (start - this.offset) * this.rowHeight;
      this.view.style.transform = `translateY(${Math.max(0, shift)}px)`;
    }

    #row(row) {
      const number = this.#pieceOf(row);
      const piece = this.pieces.get(number);
      const found = piece && piece.rows[row - piece.first];
      if (!found) {
        this.#fetch(number);
        return el(
          "div",
          { class: "row", role: "listitem" },
          el("span", { class: "no", text: row + 1 }),
          el("span", { class: "text", text: "\u00a0" }),
        );
      }
      const [kind, , time, runs] = found;
      const isFailure = kind === "?" && mngr.plain(runs) !== "0";
      const ms = time < 0 || !this.map || this.map.base === null ? null : this.map.base + time;
      const canSeek = ms !== null && this.hooks.covers(ms);
      return el(
        "div",
        {
          class: `row k-${CLASSES[kind]}${isFailure ? " bad" : ""}${row === this.chosen ? " chosen" : ""}`,
          role: "listitem",
          "aria-posinset": row + 1,
          "aria-setsize": this.count,
        },
        el("a", { class: "no", href: this.hooks.address(row), text: row + 1, "aria-label": `line ${row + 1}, ${NAMES[kind]}` }),
        canSeek
          ? el("button", {
              class: "seek",
              text: "\u25b6",
              title: "Show this moment in the recording",
              "aria-label": "Show this moment in the recording",
              on: {
                click: () => {
                  this.chosen = row;
                  this.#paintSoon();
                  this.hooks.seek(ms);
                },
              },
            })
          : el("span", { class: "seek" }),
        el("span", { class: "mark", text: MARKS[kind] }),
        el("span", { class: "text" }, runs.map(mngr.run)),
        kind === "$" && time >= 0 ? el("span", { class: "at", text: `+${mngr.clock(time / 1000)}` }) : null,
      );
    }

    async #fetch(number) {
      if (this.fetching?.has(number)) return;
      (this.fetching ||= new Set()).add(number);
      try {
        const version = this.version;
        const piece = await mngr.load(this.#name(number), version);
        if (version === this.version) this.#take(number, piece);
        this.fetching.delete(number);
        this.#paintSoon();
      } catch {
        // Asked for again when the transcript has changed.
        setTimeout(() => this.fetching.delete(number), 2000);
      }
    }

    repaint() {
      this.#paintSoon();
    }

    close() {
      this.resized.disconnect();
    }
  };

  // The index of the last entry for which it holds, by halving; -1 when there is none.
  const last = (list, holds) => {
    let [low, high] = [0, list.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (holds(list[middle])) low = middle + 1;
      else high = middle;
    }
    return low - 1;
  };
  mngr.last = last;
})();
